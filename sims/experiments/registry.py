"""The experiments by name. A module of this folder that has a ``NAME`` is one: nothing else needs an edit.

It holds ``NAME``, ``TITLE``, ``units(scale)``, ``values(clients)``, ``differences(clients)``, ``PUBLISHED``; where
it has any, ``PICTURES``, and ``shown(clients)``, the rows that they show, or ``points(clients)``, see ``Picture``;
``SEEDS`` where they are not 2 (quick) and 5 (paper).
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import fairfl.sims.experiments
from fairfl.sims.experiments.experiment import Experiment
from fairfl.theory.checks import one_of

PARTS = ("NAME", "TITLE", "units", "values", "differences", "PUBLISHED")
SEEDS = {"quick": 2, "paper": 5}


def experiments() -> dict[str, Experiment]:
    """Every experiment by name, sorted.

    Raises
    ------
    ValueError : an experiment module without one of its parts, or a name taken twice.
    """
    found: dict[str, Experiment] = {}
    for module in iter_modules(fairfl.sims.experiments.__path__):
        experiment = _experiment(import_module(f"fairfl.sims.experiments.{module.name}"))
        if experiment is None:
            continue
        if experiment.name in found:
            raise ValueError(f"NAME must be new, got {experiment.name!r} again in {module.name}")
        found[experiment.name] = experiment
    return dict(sorted(found.items()))


def find(name: str) -> Experiment:
    """The experiment of this name; ValueError that lists the known ones."""
    known = experiments()
    return known[one_of("experiment", name, tuple(known))]


def _experiment(module: ModuleType) -> Experiment | None:
    """The experiment that a module defines, or None for the modules that experiments share."""
    if not hasattr(module, "NAME"):
        return None
    missing = [part for part in PARTS if not hasattr(module, part)]
    if missing:
        raise ValueError(f"experiment {module.__name__} must define {', '.join(PARTS)}, it has no {missing[0]}")
    return Experiment(
        module.NAME, module.TITLE, getattr(module, "SEEDS", SEEDS), module.units, module.values, module.differences,
        module.PUBLISHED, getattr(module, "PICTURES", ()), getattr(module, "shown", Experiment.shown),
        getattr(module, "points", None),
    )  # fmt: skip
