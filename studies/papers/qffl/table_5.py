"""q-FFL, table 5 and figure 4."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.experiment import Picture, Scale, Unit
from fairfl.studies.papers.qffl import runs as qffl_runs
from fairfl.studies.papers.qffl.choice import choice_notes, chosen_rows
from fairfl.studies.papers.qffl.numbers import STATISTICS, TABLE_5

NAME = "qffl-table-5"
TITLE = "q-FFL, table 5, figure 4: training accuracies over the devices, q = 0 and q > 0"
PUBLISHED = TABLE_5
SHOWN = ("q = 0", "q = 1", "q = 5")
PICTURES = (
    Picture("qffl-figure-4", "distribution", "q-FFL, figure 4: training accuracies of the devices", "train", SHOWN),
)


def units(scale: Scale) -> list[Unit]:
    """All q on Synthetic and Vehicle."""
    return qffl_runs.family(scale)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the training accuracies."""
    return chosen_rows(clients, "train", STATISTICS)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (*qffl_runs.differences(), *choice_notes(clients))
