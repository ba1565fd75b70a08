"""The studies by name: every module of ``studies/`` that has a ``NAME``, or in ``STUDIES`` a tuple
of ``Study``; nothing else is edited.

It holds ``NAME``, ``TITLE``, ``units(scale)`` and ``verdicts(measures)``; where it has any,
``tables(measures)`` and ``PICTURES``; ``SEEDS`` where they are not ``experiment.SEEDS``. See
``study.py``. In place of units it may have ``measured(seed)``, a table or the columns of one row:
then a seed is a unit.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType

import pandas as pd

from fairfl._support.checks import instance, one_of
from fairfl._support.registry import Registry
from fairfl.studies.crosscheck.study import Study
from fairfl.studies.experiment import SEEDS, Scale, Unit

Measured = Callable[[int], pd.DataFrame | Mapping[str, object]]
"""Measures of a seed: a table, or the columns of one row."""
PARTS = ("NAME", "TITLE", "units or measured", "verdicts")


def find(names: list[str] | None) -> list[Study]:
    """The studies of these names, all where none is given; ValueError that lists the known ones."""
    by_name = studies()
    return [by_name[one_of("study", name, tuple(by_name))] for name in names or by_name]


def study_of(module: ModuleType) -> Study:
    """The study that a module defines."""
    return Study(
        module.NAME,
        module.TITLE,
        getattr(module, "SEEDS", SEEDS),
        getattr(module, "units", None) or partial(_a_seed_each, module.NAME, module.measured),
        getattr(module, "tables", lambda measures: {}),
        module.verdicts,
        getattr(module, "PICTURES", ()),
    )


def _a_seed_each(name: str, measured: Measured, scale: Scale) -> list[Unit]:
    """A unit per seed, which returns the measures of ``measured``."""
    return [
        Unit(f"{name}-{seed}", name, seed, (), partial(_rows, measured, seed))
        for seed in range(scale.seeds)
    ]


def _rows(measured: Measured, seed: int) -> pd.DataFrame:
    measures = measured(seed)
    table = pd.DataFrame([measures]) if isinstance(measures, Mapping) else measures
    return instance(f"what seed {seed} measured", table, pd.DataFrame).assign(seed=seed)


studies = Registry("studies", "fairfl.studies.crosscheck.studies", PARTS, study_of, "STUDIES").parts
"""Every study by name, sorted; ValueError as ``Registry``."""
