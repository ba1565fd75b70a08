"""The studies by name: every module of ``studies/`` that has a ``NAME``; nothing else is edited.

It holds ``NAME``, ``TITLE``, ``units(scale)``, ``tables(measures)`` and ``verdicts(measures)``;
where it has any, ``PICTURES``; ``SEEDS`` where they are not
``experiment.SEEDS``; ``SEEN``, how many seeds its tolerances were set on, where that is not 0. See
``study.py``.
"""

from __future__ import annotations

from types import ModuleType

import fairfl.studies.crosscheck.studies
from fairfl._support.checks import one_of
from fairfl._support.discovery import discovered
from fairfl.studies.crosscheck.study import Study
from fairfl.studies.experiment import SEEDS

PARTS = ("NAME", "TITLE", "units", "tables", "verdicts")


def studies() -> dict[str, Study]:
    """Every study by name, sorted.

    Raises
    ------
    ValueError : a study module without one of its parts, or a name taken twice.
    """
    return discovered(fairfl.studies.crosscheck.studies, "study", PARTS, study_of)


def find(names: list[str] | None) -> list[Study]:
    """The studies of these names, all where none is given; ValueError that lists the known ones."""
    known = studies()
    return [known[one_of("study", name, tuple(known))] for name in names or known]


def study_of(module: ModuleType) -> Study:
    """The study that a module defines."""
    return Study(
        module.NAME,
        module.TITLE,
        getattr(module, "SEEDS", SEEDS),
        module.units,
        module.tables,
        module.verdicts,
        getattr(module, "PICTURES", ()),
        getattr(module, "SEEN", 0),
    )
