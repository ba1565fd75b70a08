"""FedFB, table 2: FedFB and CFL on the synthetic data with three levels of heterogeneity."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.papers.fedfb import runs as fedfb_runs
from fairfl.studies.papers.fedfb.numbers import TABLE_2, doubled
from fairfl.studies.papers.fedfb.points import of_choices, picture
from fairfl.studies.papers.fedfb.runs import CFL, FEDFB, FEDFB_PLAIN

NAME = "fedfb-table-2"
TITLE = "FedFB, table 2: accuracy and disparity over heterogeneity of the synthetic data"
DATASETS = ("Synthetic, low", "Synthetic", "Synthetic, high")
PUBLISHED = doubled(TABLE_2, DATASETS)
PICTURES = picture("table-2", TITLE)
points = of_choices(PUBLISHED)


def units(scale: Scale) -> list[Unit]:
    """FedFB with both steps, and CFL."""
    return fedfb_runs.family(scale, DATASETS, only=(FEDFB, FEDFB_PLAIN, CFL))


values = fedfb_runs.values


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *fedfb_runs.differences(rows),
        "CFL's people are the same at the three levels, but not which of them are for validation: its lines differ.",
    )
