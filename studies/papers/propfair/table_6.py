"""PropFair, table 6 and figure 2: five algorithms, on what stands in for CIFAR-10."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Picture, Scale, Unit
from fairfl.studies.measures import statistics
from fairfl.studies.papers.propfair import runs as propfair_runs
from fairfl.studies.published import published

NAME = "propfair-table-6"
TITLE = "PropFair, table 6, figure 2: FedAvg, q-FFL, AFL, TERM and PropFair; MNIST and Synthetic in place of CIFAR-10"
SEEDS = {"quick": 1, "paper": 3}
STATISTICS = ("devices", "std", "worst", "worst 10%", "best", "best 10%")
PUBLISHED = published(
    """
    CIFAR-10 | FedAvg | 78.52 ± 0.32 | 15.27 ± 0.19 | 57.16 ± 1.61 | 57.16 ± 1.61 | 99.92 ± 0.07 | 99.92 ± 0.07
    CIFAR-10 | q-FFL | 77.35 ± 0.17 | 15.15 ± 0.23 | 56.51 ± 0.28 | 56.51 ± 0.28 | 98.01 ± 0.45 | 98.01 ± 0.45
    CIFAR-10 | AFL | 78.01 ± 0.24 | 15.34 ± 0.10 | 57.43 ± 0.26 | 57.43 ± 0.26 | 100.0 ± 0.00 | 100.0 ± 0.00
    CIFAR-10 | TERM | 79.71 ± 0.34 | 13.14 ± 0.05 | 56.33 ± 0.47 | 56.33 ± 0.47 | 100.0 ± 0.00 | 100.0 ± 0.00
    CIFAR-10 | PropFair | 78.47 ± 0.09 | 14.79 ± 0.07 | 58.14 ± 0.29 | 58.14 ± 0.29 | 98.55 ± 0.12 | 98.55 ± 0.12
    """,
    STATISTICS,
)
PICTURES = (Picture("propfair-table-6", "convergence", "PropFair's five algorithms: test accuracy by round"),)


def units(scale: Scale) -> list[Unit]:
    """Five algorithms in one program, a data set and seed each."""
    return propfair_runs.units("five", scale, propfair_runs.ALGORITHMS)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test accuracies."""
    return statistics(last_round(clients, "test"), STATISTICS)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper; and its numbers for CIFAR-10, since no row of ours is their like."""
    wide = PUBLISHED.pivot(index="objective", columns="measure", values="published")
    said = ", ".join(f"{name} {row['devices']:g} / {row['worst 10%']:g}" for name, row in wide.iterrows())
    return (*propfair_runs.differences(), f"The paper on CIFAR-10, mean / worst 10 %: {said}.")
