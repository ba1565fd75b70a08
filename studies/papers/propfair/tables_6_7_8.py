"""PropFair, tables 6 to 8, figures 2 to 4: a row of ``EXPERIMENTS`` each."""

from collections.abc import Callable

import pandas as pd

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.studies.beside_published import COLUMNS, published
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Experiment, Picture, Scale, Unit
from fairfl.studies.measures import statistics
from fairfl.studies.notes import notes
from fairfl.studies.papers.propfair import propfair_runs
from fairfl.studies.published_numbers import PROPFAIR_TABLES, Printed

SEEDS = {"quick": 1, "paper": 3}
MS = (1.0, 2.0, 3.0, 5.0, 10.0, 30.0)
BATCHES, RATIOS = (32, 64, 128, 256), (0.4, 0.5, 0.6, 0.7)
EVERY = ("CIFAR-10", "CIFAR-100", "CINIC-10", "Shakespeare")
ABLATED = ("CIFAR-100",)
ALL = ("devices", "std", "worst", "worst 10%", "best", "best 10%")
ABLATED_MEASURES = ("devices", "std", "worst 10%", "best 10%")
"""The measures of table 6, and of tables 7 and 8."""


def baselines(dataset: str) -> dict[str, tuple[Algorithm, float]]:
    """Several M, with FedAvg's learning rate."""
    algorithms: dict[str, Algorithm] = {
        "FedAvg": FedAvg(),
        **{f"M = {M:g}": PropFair(M, rescale=True) for M in MS},
        **{f"M = {M:g}, linear": PropFair(M, variant="linear", rescale=True) for M in MS[:3]},
    }
    return {
        name: (rule, propfair_runs.TASKS[dataset].rates[0]) for name, rule in algorithms.items()
    }


def experiment(
    name: str,
    title: str,
    datasets: tuple[str, ...],
    units: Callable[[Scale], list[Unit]],
    measures: tuple[str, ...],
    printed: Printed | None = None,
    *subjects: str,
    kind: str = "",
    picture: str = "",
) -> Experiment:
    """One table or figure, and its picture where it has one."""

    def differences(clients: pd.DataFrame) -> tuple[str, ...]:
        names = {str(dataset).partition(",")[0] for dataset in clients["dataset"]}
        return (*propfair_runs.differences(datasets, names), *notes("propfair", *subjects))

    return Experiment(
        f"propfair-{name}",
        f"PropFair, {title}; MNIST and Synthetic where the paper's data are not at hand",
        SEEDS,
        units,
        lambda clients: statistics(last_round(clients, "test"), measures),
        differences,
        pd.DataFrame(columns=COLUMNS) if printed is None else published(printed),
        (Picture(f"propfair-{name}", kind, picture),) if kind else (),
    )


def ablated(table: Printed) -> Printed:
    """The published rows of CIFAR-100, named as ours."""
    return {(f"{ABLATED[0]}, {data}", row): cells for (data, row), cells in table.items()}


EXPERIMENTS = (
    experiment(
        "table-6",
        "table 6, figure 2: FedAvg, q-FFL, AFL, TERM and PropFair",
        EVERY,
        lambda scale: propfair_runs.units("five", scale, EVERY),
        ALL,
        PROPFAIR_TABLES["6"],
        kind="convergence",
        picture="PropFair's five algorithms: test accuracy by round",
    ),
    experiment(
        "table-7",
        "table 7, figure 4: 0.4 to 0.7 of the rows to train on",
        ABLATED,
        lambda scale: propfair_runs.units("five", scale, ABLATED, ratios=RATIOS),
        ABLATED_MEASURES,
        ablated(PROPFAIR_TABLES["7"]),
        kind="distribution",
        picture="PropFair, figure 4: test accuracies of the clients by the share of training rows",
    ),
    experiment(
        "table-8",
        "table 8: batches of 32, 64, 128 and 256",
        ABLATED,
        lambda scale: propfair_runs.units("five", scale, ABLATED, batches=BATCHES),
        ABLATED_MEASURES,
        ablated(PROPFAIR_TABLES["8"]),
        "table 8",
    ),
    experiment(
        "figure-3",
        "figure 3: mean and worst 10 % test accuracy for several M",
        ABLATED,
        lambda scale: propfair_runs.units("baseline", scale, ABLATED, baselines),
        ("devices", "std", "worst 10%"),
        None,
        "figure 3",
        kind="convergence",
        picture="PropFair, figure 3: test accuracy by round, several M",
    ),
)
