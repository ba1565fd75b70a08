"""q-FFL, tables 7 and 8, figures 2 and 5: against devices weighed alike."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.beside_published import published
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import rows
from fairfl.studies.measures import statistics
from fairfl.studies.papers.qffl import runs as qffl_runs
from fairfl.studies.papers.qffl.published_numbers import STATISTICS, TABLE_7, TABLE_8

NAME = "qffl-table-8"
TITLE = (
    "q-FFL, tables 7 (training) and 8 (test), figures 2 and 5: q-FFL against devices weighed alike"
)
PUBLISHED = published(
    {
        (f"{data}, {part}", row): cells
        for part, table in (("training", TABLE_7), ("test", TABLE_8))
        for (data, row), cells in table.items()
    }
)
SHOWN = ("uniform", "q = 1", "q = 5")
PICTURES = (
    qffl_runs.spread(2, "test accuracies, uniform and q-FFL", "test", SHOWN),
    qffl_runs.spread(5, "training accuracies, uniform and q-FFL", "train", SHOWN),
)


def units(scale: Scale) -> list[Unit]:
    """All q, and FedAvg with devices weighed alike."""
    return [*qffl_runs.family(scale), *qffl_runs.uniform(scale)]


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of uniform weights and of the paper's q."""
    wanted = {dataset: ("uniform", qffl_runs.name_of(q)) for dataset, q in qffl_runs.CHOSEN.items()}
    parts = []
    for part, said in (("train", "training"), ("test", "test")):
        final = last_round(clients, part)
        pairs = zip(final["dataset"], final["objective"], strict=True)
        found = statistics(
            rows(final, [objective in wanted[dataset] for dataset, objective in pairs]), STATISTICS
        )
        parts.append(found.assign(dataset=found["dataset"] + f", {said}"))
    return pd.concat(parts, ignore_index=True)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *qffl_runs.differences(clients["dataset"]),
        "Uniform: ten devices a round with equal chances, updates averaged with equal weights, "
        "as section 4.3 says.",
    )
