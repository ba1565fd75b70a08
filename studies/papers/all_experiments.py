"""The experiments by name: every module of ``papers`` that has a ``NAME``; nothing else is edited.

A module may hold several instead: ``EXPERIMENTS``, a tuple of ``Experiment``. One alone holds
``NAME``, ``TITLE``, ``units(scale)``, ``values(clients)``, ``differences(clients)``, ``PUBLISHED``;
where it has any, ``PICTURES``, and ``shown(clients)``, the rows that they show, or
``points(clients)``, see ``Picture``; ``SEEDS`` where they are not ``experiment.SEEDS``.
"""

from __future__ import annotations

from types import ModuleType

from fairfl._support.checks import one_of
from fairfl._support.discovery import discovered
from fairfl.studies import papers
from fairfl.studies.experiment import SEEDS, Experiment

PARTS = ("NAME", "TITLE", "units", "values", "differences", "PUBLISHED")


def experiments() -> dict[str, Experiment]:
    """Every experiment by name, sorted.

    Raises
    ------
    ValueError : an experiment module without one of its parts, or a name taken twice.
    """
    return discovered(papers, "experiment", PARTS, _experiment, "EXPERIMENTS")


def find(name: str) -> Experiment:
    """The experiment of this name; ValueError that lists the known ones."""
    known = experiments()
    return known[one_of("experiment", name, tuple(known))]


def _experiment(module: ModuleType) -> Experiment:
    return Experiment(
        module.NAME,
        module.TITLE,
        getattr(module, "SEEDS", SEEDS),
        module.units,
        module.values,
        module.differences,
        module.PUBLISHED,
        getattr(module, "PICTURES", ()),
        getattr(module, "shown", Experiment.shown),
        getattr(module, "points", None),
    )
