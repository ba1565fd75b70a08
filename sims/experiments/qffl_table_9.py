"""q-FFL, table 9: a family of q on Synthetic."""

from __future__ import annotations

import pandas as pd

from fairfl.sims.experiments import qffl_runs
from fairfl.sims.experiments.execute import last_round
from fairfl.sims.experiments.experiment import Scale, Unit
from fairfl.sims.experiments.measures import statistics
from fairfl.sims.experiments.qffl_numbers import STATISTICS, TABLE_9

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
