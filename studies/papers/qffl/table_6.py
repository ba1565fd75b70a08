"""q-FFL, table 6."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.papers.qffl import runs as qffl_runs
from fairfl.studies.papers.qffl.choice import choice_notes, chosen_rows
from fairfl.studies.papers.qffl.numbers import TABLE_6

NAME = "qffl-table-6"
TITLE = "q-FFL, table 6: average test accuracies over data points and over devices"
PUBLISHED = TABLE_6


def units(scale: Scale) -> list[Unit]:
    """All q on Synthetic and Vehicle."""
    return qffl_runs.family(scale)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test accuracies."""
    return chosen_rows(clients, "test", ("average", "devices"))


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (*qffl_runs.differences(), *choice_notes(clients))
