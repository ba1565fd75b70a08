"""PropFair, table 8: batch sizes."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.measures import statistics
from fairfl.studies.papers.propfair import runs as propfair_runs
from fairfl.studies.published import COLUMNS

NAME = "propfair-table-8"
TITLE = "PropFair, table 8: batches of 32, 64, 128 and 256; MNIST and Synthetic in place of CIFAR-100"
SEEDS = {"quick": 1, "paper": 3}
STATISTICS = ("devices", "std", "worst 10%", "best 10%")
PUBLISHED = pd.DataFrame(columns=COLUMNS)
BATCHES = (32, 64, 128, 256)


def units(scale: Scale) -> list[Unit]:
    """Five algorithms in one program, a data set, batch size and seed each."""
    return propfair_runs.units("five", scale, propfair_runs.ALGORITHMS, BATCHES, by_batch=True)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test accuracies."""
    return statistics(last_round(clients, "test"), STATISTICS)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *propfair_runs.differences(),
        "One learning rate for all batch sizes: larger batches take fewer steps an epoch. Published on CIFAR-100: "
        "worst 10 % of PropFair 53.85, 53.82, 53.54 for 32, 64, 128, of FedAvg 53.13, 53.12, 52.39.",
    )
