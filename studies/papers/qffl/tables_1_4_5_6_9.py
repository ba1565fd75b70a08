"""q-FFL, tables 1, 4, 5, 6 and 9: a row of ``EXPERIMENTS`` a table, all of the same runs."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from fairfl.studies.beside_published import published
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import SEEDS, Experiment, Picture
from fairfl.studies.measures import statistics
from fairfl.studies.papers.qffl import published_numbers as numbers
from fairfl.studies.papers.qffl import runs
from fairfl.studies.papers.qffl.choice import choice_notes, chosen_rows
from fairfl.studies.papers.qffl.published_numbers import STATISTICS
from fairfl.studies.papers.qffl.runs import spread
from fairfl.studies.printed_numbers import Printed

SHOWN = ("q = 0", "q = 1", "q = 5")


def table(
    number: int,
    of: Printed,
    title: str,
    part: str = "test",
    measures: tuple[str, ...] = STATISTICS,
    pictures: tuple[Picture, ...] = (),
) -> Experiment:
    """q = 0, the paper's q, and the q chosen on our validation data, on the data at hand."""
    return Experiment(
        f"qffl-table-{number}",
        f"q-FFL, {title}",
        SEEDS,
        runs.family,
        _chosen(part, measures),
        lambda clients: (*runs.differences(clients["dataset"]), *choice_notes(clients)),
        published(of),
        pictures,
    )


def _chosen(part: str, measures: tuple[str, ...]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda clients: chosen_rows(clients, part, measures)


EXPERIMENTS = (
    table(
        1,
        numbers.TABLE_4,
        "tables 1 and 4, figure 1: test accuracies over the devices, q = 0 and q > 0",
        pictures=(
            spread(1, "test accuracies of the devices", "test", SHOWN),
            Picture("qffl-figure-7", "convergence", "q-FFL, figure 7: test accuracy by round"),
        ),
    ),
    table(
        5,
        numbers.TABLE_5,
        "table 5, figure 4: training accuracies over the devices, q = 0 and q > 0",
        "train",
        pictures=(spread(4, "training accuracies of the devices", "train", SHOWN),),
    ),
    table(
        6,
        numbers.TABLE_6,
        "table 6: average test accuracies over data points and over devices",
        measures=("average", "devices"),
    ),
    Experiment(
        "qffl-table-9",
        "q-FFL, table 9: a family of q on Synthetic",
        SEEDS,
        lambda scale: runs.family(scale, ("Synthetic",)),
        lambda clients: statistics(last_round(clients, "test"), STATISTICS),
        lambda clients: runs.differences(("Synthetic",)),
        published(numbers.TABLE_9),
    ),
)
