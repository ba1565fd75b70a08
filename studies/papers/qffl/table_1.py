"""q-FFL, tables 1 and 4 (1 has four of its columns), and figures 1 and 7."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.experiment import Picture, Scale, Unit
from fairfl.studies.papers.qffl import runs as qffl_runs
from fairfl.studies.papers.qffl.choice import choice_notes, chosen_rows
from fairfl.studies.papers.qffl.numbers import STATISTICS, TABLE_4

NAME = "qffl-table-1"
TITLE = "q-FFL, tables 1 and 4, figure 1: test accuracies over the devices, q = 0 and q > 0"
PUBLISHED = TABLE_4
SHOWN = ("q = 0", "q = 1", "q = 5")
PICTURES = (
    Picture("qffl-figure-1", "distribution", "q-FFL, figure 1: test accuracies of the devices", "test", SHOWN),
    Picture("qffl-figure-7", "convergence", "q-FFL, figure 7: test accuracy by round"),
)


def units(scale: Scale) -> list[Unit]:
    """All q on Synthetic and Vehicle."""
    return qffl_runs.family(scale)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test accuracies."""
    return chosen_rows(clients, "test", STATISTICS)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (*qffl_runs.differences(), *choice_notes(clients))
