"""The experiments by name. A module of this folder that has a ``NAME`` is one: nothing else needs an edit.

It holds ``NAME``, ``TITLE``, ``units(scale)``, ``values(clients)``, ``differences(clients)``, ``PUBLISHED``; where
it has any, ``PICTURES``, and ``shown(clients)``, the rows that they show, or ``points(clients)``, see ``Picture``;
``SEEDS`` where they are not 2 (quick) and 5 (paper).
"""

from __future__ import annotations

from types import ModuleType

import fairfl.studies.papers
from fairfl._support.checks import one_of
from fairfl._support.discovery import named_modules
from fairfl.studies.experiment import Experiment

PARTS = ("NAME", "TITLE", "units", "values", "differences", "PUBLISHED")
SEEDS = {"quick": 2, "paper": 5}


def experiments() -> dict[str, Experiment]:
    """Every experiment by name, sorted.

    Raises
    ------
    ValueError : an experiment module without one of its parts, or a name taken twice.
    """
    found = named_modules(fairfl.studies.papers, "experiment", PARTS)
    return {name: _experiment(module) for name, module in found.items()}


def find(name: str) -> Experiment:
    """The experiment of this name; ValueError that lists the known ones."""
    known = experiments()
    return known[one_of("experiment", name, tuple(known))]


def _experiment(module: ModuleType) -> Experiment:
    return Experiment(
        module.NAME, module.TITLE, getattr(module, "SEEDS", SEEDS), module.units, module.values, module.differences,
        module.PUBLISHED, getattr(module, "PICTURES", ()), getattr(module, "shown", Experiment.shown),
        getattr(module, "points", None),
    )  # fmt: skip
