"""The studies by name. A module of ``studies/`` that has a ``NAME`` is one: nothing else needs an edit.

It holds ``NAME``, ``TITLE``, ``units(scale)``, ``tables(measures)`` and ``verdicts(measures)``; where it has any,
``PICTURES`` and ``record(measures)``; ``SEEDS`` where they are not 2 (quick) and 5 (paper). See ``study.py``.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import fairfl.sims.crosscheck.studies
from fairfl.sims.crosscheck.study import Study
from fairfl.theory.checks import one_of

PARTS = ("NAME", "TITLE", "units", "tables", "verdicts")
SEEDS = {"quick": 2, "paper": 5}


def studies() -> dict[str, Study]:
    """Every study by name, sorted.

    Raises
    ------
    ValueError : a study module without one of its parts, or a name taken twice.
    """
    found: dict[str, Study] = {}
    for module in iter_modules(fairfl.sims.crosscheck.studies.__path__):
        study = study_of(import_module(f"fairfl.sims.crosscheck.studies.{module.name}"))
        if study is None:
            continue
        if study.name in found:
            raise ValueError(f"NAME must be new, got {study.name!r} again in {module.name}")
        found[study.name] = study
    return dict(sorted(found.items()))


def find(names: list[str] | None) -> list[Study]:
    """The studies of these names, all where none is given; ValueError that lists the known ones."""
    known = studies()
    return [known[one_of("study", name, tuple(known))] for name in names or known]


def study_of(module: ModuleType) -> Study | None:
    """The study that a module defines, or None for the modules that studies share."""
    if not hasattr(module, "NAME"):
        return None
    missing = [part for part in PARTS if not hasattr(module, part)]
    if missing:
        raise ValueError(f"study {module.__name__} must define {', '.join(PARTS)}, it has no {missing[0]}")
    return Study(
        module.NAME, module.TITLE, getattr(module, "SEEDS", SEEDS), module.units, module.tables, module.verdicts,
        getattr(module, "PICTURES", ()), getattr(module, "record", None),
    )  # fmt: skip
