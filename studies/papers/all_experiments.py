"""The experiments by name: the tuple ``EXPERIMENTS`` of every module; nothing else is edited."""

from fairfl._support.checks import one_of
from fairfl._support.registry import Registry
from fairfl.studies.experiment import Experiment

experiments = Registry[Experiment](
    "experiments", "fairfl.studies.papers", several="EXPERIMENTS"
).parts
"""Every experiment by name, sorted; ValueError for a name taken twice."""


def find(name: str) -> Experiment:
    """The experiment of this name; ValueError that lists the known ones."""
    by_name = experiments()
    return by_name[one_of("experiment", name, tuple(by_name))]
