"""q-FFL, table 9: a family of q on Synthetic."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.measures import statistics
from fairfl.studies.papers.qffl import runs as qffl_runs
from fairfl.studies.papers.qffl.numbers import STATISTICS, TABLE_9

NAME = "qffl-table-9"
TITLE = "q-FFL, table 9: a family of q on Synthetic"
PUBLISHED = TABLE_9


def units(scale: Scale) -> list[Unit]:
    """All q on Synthetic."""
    return qffl_runs.family(scale, ("Synthetic",))


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test accuracies, every q."""
    return statistics(last_round(clients, "test"), STATISTICS)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return tuple(note for note in qffl_runs.differences() if not note.startswith("Vehicle"))
