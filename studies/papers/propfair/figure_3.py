"""PropFair, figure 3: how much the baseline M matters, and what takes over below the threshold."""

from __future__ import annotations

import pandas as pd

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Picture, Scale, Unit
from fairfl.studies.measures import statistics
from fairfl.studies.papers.propfair import runs as propfair_runs
from fairfl.studies.published import COLUMNS

NAME = "propfair-figure-3"
TITLE = "PropFair, figure 3: mean and worst 10 % test accuracy for several M; MNIST and Synthetic in place of CIFAR-100"
SEEDS = {"quick": 1, "paper": 3}
STATISTICS = ("devices", "std", "worst 10%")
PUBLISHED = pd.DataFrame(columns=COLUMNS)
MS = (1.0, 2.0, 3.0, 5.0, 10.0, 30.0)
ALGORITHMS: dict[str, Algorithm] = {
    "FedAvg": FedAvg(),
    **{f"M = {M:g}": PropFair(M, rescale=True) for M in MS},
    **{f"M = {M:g}, linear": PropFair(M, variant="linear", rescale=True) for M in MS[:3]},
}
PICTURES = (Picture("propfair-figure-3", "convergence", "PropFair, figure 3: test accuracy by round, several M"),)


def units(scale: Scale) -> list[Unit]:
    """All M in one program, a data set and seed each."""
    return propfair_runs.units("baseline", scale, ALGORITHMS)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test accuracies."""
    return statistics(last_round(clients, "test"), STATISTICS)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *propfair_runs.differences(),
        "The objective is multiplied by M, so that all M have one learning rate and M -> infinity is FedAvg; the paper "
        "tunes the rate for each M.",
        "\"linear\" goes on below M - l = 0.2 with the logarithm's tangent; the paper's fallback l / M drops the "
        "gradient by 0.2 / M there, for the batches that are worst off.",
    )
