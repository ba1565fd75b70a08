"""PropFair, tables 6 and 8, figures 2 and 3: a row of ``EXPERIMENTS`` each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.studies.beside_published import COLUMNS, published
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Experiment, Picture
from fairfl.studies.measures import statistics
from fairfl.studies.papers.propfair import published_numbers as numbers
from fairfl.studies.papers.propfair import runs
from fairfl.studies.printed_numbers import Printed

SEEDS = {"quick": 1, "paper": 3}
MS = (1.0, 2.0, 3.0, 5.0, 10.0, 30.0)
BASELINES: dict[str, Algorithm] = {
    "FedAvg": FedAvg(),
    **{f"M = {M:g}": PropFair(M, rescale=True) for M in MS},
    **{f"M = {M:g}, linear": PropFair(M, variant="linear", rescale=True) for M in MS[:3]},
}
BATCHES = (32, 64, 128, 256)


def measured(statistic: tuple[str, ...]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """``values``: measures of the test accuracies."""
    return lambda clients: statistics(last_round(clients, "test"), statistic)


def differing(*notes: str) -> Callable[[pd.DataFrame], tuple[str, ...]]:
    """``differences``: what differs from the paper."""
    return lambda clients: (*runs.differences(), *notes)


def told(of: Printed, measures: tuple[str, ...], datasets: tuple[str, ...]) -> str:
    """Numbers of these rows, since no row of ours is their like."""
    mine = [
        f"{data}, {row} {' / '.join(cells[m][0] for m in measures)}"
        for (data, row), cells in of.items()
        if data in datasets
    ]
    return f"Published, {' / '.join(measures)}: {'; '.join(mine)}."


EXPERIMENTS = (
    Experiment(
        "propfair-table-6",
        "PropFair, table 6, figure 2: FedAvg, q-FFL, AFL, TERM and PropFair; MNIST and Synthetic "
        "in place of CIFAR-10",
        SEEDS,
        partial(runs.units, "five", algorithms=runs.ALGORITHMS),
        measured(numbers.SIX),
        differing(told(numbers.TABLE_6, ("devices", "worst 10%"), ("CIFAR-10",))),
        published(numbers.TABLE_6),
        (
            Picture(
                "propfair-table-6",
                "convergence",
                "PropFair's five algorithms: test accuracy by round",
            ),
        ),
    ),
    Experiment(
        "propfair-table-8",
        "PropFair, table 8: batches of 32, 64, 128 and 256; MNIST and Synthetic in place of "
        "CIFAR-100",
        SEEDS,
        partial(runs.units, "five", algorithms=runs.ALGORITHMS, batches=BATCHES, by_batch=True),
        measured(numbers.FOUR),
        differing(
            "One learning rate for all batch sizes: larger batches take fewer steps an epoch.",
            told(numbers.TABLE_8, ("worst 10%",), tuple(f"batch {size}" for size in BATCHES)),
        ),
        published(numbers.TABLE_8),
    ),
    Experiment(
        "propfair-figure-3",
        "PropFair, figure 3: mean and worst 10 % test accuracy for several M; MNIST and "
        "Synthetic in place of CIFAR-100",
        SEEDS,
        partial(runs.units, "baseline", algorithms=BASELINES),
        measured(("devices", "std", "worst 10%")),
        differing(
            "The objective is multiplied by M, so that all M have one learning rate and M -> "
            "infinity is FedAvg; the paper tunes the rate for each M.",
            "\"linear\" goes on below M - l = 0.2 with the logarithm's tangent; the paper's "
            "fallback l / M drops the gradient by 0.2 / M there, for the batches that are worst "
            "off.",
        ),
        pd.DataFrame(columns=COLUMNS),
        (
            Picture(
                "propfair-figure-3",
                "convergence",
                "PropFair, figure 3: test accuracy by round, several M",
            ),
        ),
    ),
)
