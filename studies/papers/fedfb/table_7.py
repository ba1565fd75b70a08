"""FedFB, table 7: FedFB and AgnosticFair."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.beside_published import published
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among
from fairfl.studies.papers.fedfb import runs as fedfb_runs
from fairfl.studies.papers.fedfb.agnostic import AGNOSTIC, NOTE, TAU, agnostic_unit
from fairfl.studies.papers.fedfb.data import REAL
from fairfl.studies.papers.fedfb.points import of_choices, picture
from fairfl.studies.papers.fedfb.published_numbers import TABLE_7
from fairfl.studies.papers.fedfb.runs import FEDFB, FEDFB_PLAIN
from fairfl.studies.papers.fedfb.tables_1_2_4_5 import FIVE

NAME = "fedfb-table-7"
TITLE = "FedFB, table 7: FedFB and AgnosticFair"
SEEDS = {"quick": 2, "paper": 5}
TWO_GROUPS = ("Synthetic", "Adult")
"""Du et al. have no constraint for more."""
PUBLISHED = published(TABLE_7, {FEDFB: (FEDFB, FEDFB_PLAIN)})
SHOWN = (FEDFB, FEDFB_PLAIN, AGNOSTIC, "all 0", "all 1")
PICTURES = picture("table-7", TITLE)


def units(scale: Scale) -> list[Unit]:
    """FedFB's runs, on real data table 1's, and AgnosticFair's; quick: synthetic data alone."""
    two = TWO_GROUPS if scale.paper else ("Synthetic",)
    real = fedfb_runs.family(scale, tuple(REAL), only=FIVE) if scale.paper else []
    return [
        *fedfb_runs.family(scale, ("Synthetic",), only=(FEDFB, FEDFB_PLAIN)),
        *(unit for unit in real if FEDFB in unit.objectives),
        *(agnostic_unit(scale, name, "mlp") for name in two),
    ]


def values(rows: pd.DataFrame) -> pd.DataFrame:
    """The measures of this table's methods."""
    return fedfb_runs.values(among(rows, "objective", SHOWN))


def points(rows: pd.DataFrame) -> pd.DataFrame:
    """Their points."""
    return of_choices(PUBLISHED)(among(rows, "objective", SHOWN))


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *fedfb_runs.differences(among(rows, "objective", SHOWN)),
        f"AgnosticFair: tau {TAU}. More than two groups it has no constraint for.",
        NOTE,
        fedfb_runs.CAUSES,
    )
