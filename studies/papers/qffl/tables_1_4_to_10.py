"""q-FFL, tables 1 and 4 to 10, figures 1, 2, 4, 5 and 7, of the same runs: q-FedAvg, every q."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from fairfl.sims.engine import best_of
from fairfl.studies.beside_published import published
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import SEEDS, Experiment, Picture, Scale, Unit
from fairfl.studies.frames import among, groups, rows
from fairfl.studies.measures import statistics
from fairfl.studies.notes import notes
from fairfl.studies.papers.qffl import qffl_runs
from fairfl.studies.papers.qffl.qffl_runs import CHOSEN, QS, family, name_of
from fairfl.studies.published_numbers import QFFL_TABLES, Printed

STATISTICS = ("average", "worst 10%", "best 10%", "variance", "angle", "KL")
PAPERS = {dataset: (name_of(0.0), name_of(q)) for dataset, q in CHOSEN.items()}
"""The q in tables of each data set: 0, and the one that the paper reports."""
UNIFORM = {dataset: ("uniform", name_of(q)) for dataset, q in CHOSEN.items()}
SHOWN = ("q = 0", "q = 1", "q = 5")
PARALLEL = tuple(map(name_of, QS[:-1]))
"""Of table 10; appendix F.2 is without 15."""
PARTS = {"train": "training", "test": "test"}


def values(
    clients: pd.DataFrame,
    part: str = "test",
    objectives: Mapping[str, Sequence[str]] = PAPERS,
    measures: Sequence[str] = STATISTICS,
) -> pd.DataFrame:
    """Measures of the accuracies of some objectives of each data set at the end."""
    final = last_round(clients, part)
    pairs = zip(final["dataset"], final["objective"], strict=True)
    mask = [name in objectives[dataset] for dataset, name in pairs]
    return statistics(rows(final, mask), measures)


def on_both_parts(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of uniform weights and of the paper's q, on training and on test rows."""
    tables = [(label, values(clients, part, UNIFORM)) for part, label in PARTS.items()]
    return pd.concat(
        [table.assign(dataset=table["dataset"] + f", {label}") for label, table in tables],
        ignore_index=True,
    )


def own_best(clients: pd.DataFrame) -> pd.DataFrame:
    """The test rows of each device under the q whose model is best on its validation data, the
    first of several; q = 0 without validation rows.
    """
    parts = []
    for _, run in groups(among(clients, "objective", PARALLEL), ["unit"]):
        best = best_of(run)
        parts.append(last_round(run, "test").merge(best, on=["client", "replicate"]))
    return pd.concat(parts, ignore_index=True).assign(objective="multiple q")


def with_own_best(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of q = 0, of the paper's q, and of each device's own q."""
    return pd.concat([values(clients), statistics(own_best(clients), STATISTICS)])


def spread(figure: int, title: str, part: str, shown: tuple[str, ...] = SHOWN) -> Picture:
    """A figure of the devices' accuracies."""
    title = f"q-FFL, figure {figure}: {title}"
    return Picture(f"qffl-figure-{figure}", "distribution", title, part, shown)


def table(
    number: int,
    printed: Printed,
    title: str,
    values: Callable[[pd.DataFrame], pd.DataFrame],
    *subjects: str,
    units: Callable[[Scale], list[Unit]] = family,
    pictures: tuple[Picture, ...] = (),
) -> Experiment:
    """A table's experiment, on the data at hand."""
    return Experiment(
        f"qffl-table-{number}",
        f"q-FFL, {title}",
        SEEDS,
        units,
        values,
        lambda clients: (*qffl_runs.differences(clients["dataset"]), *notes("qffl", *subjects)),
        published(printed),
        pictures,
    )


EXPERIMENTS = (
    table(
        1,
        QFFL_TABLES["4"],
        "tables 1 and 4, figure 1: test accuracies over the devices, q = 0 and q > 0",
        values,
        pictures=(
            spread(1, "test accuracies of the devices", "test"),
            Picture("qffl-figure-7", "convergence", "q-FFL, figure 7: test accuracy by round"),
        ),
    ),
    table(
        5,
        QFFL_TABLES["5"],
        "table 5, figure 4: training accuracies over the devices, q = 0 and q > 0",
        partial(values, part="train"),
        pictures=(spread(4, "training accuracies of the devices", "train"),),
    ),
    table(
        6,
        QFFL_TABLES["6"],
        "table 6: average test accuracies over data points and over devices",
        partial(values, measures=("average", "devices")),
    ),
    table(
        8,
        {
            (f"{data}, {label}", row): cells
            for label, printed in (("training", QFFL_TABLES["7"]), ("test", QFFL_TABLES["8"]))
            for (data, row), cells in printed.items()
        },
        "tables 7 (training) and 8 (test), figures 2 and 5: q-FFL against devices weighed alike",
        on_both_parts,
        "table 8",
        units=qffl_runs.uniform_too,
        pictures=tuple(
            spread(figure, f"{word} accuracies, uniform and q-FFL", part, ("uniform", *SHOWN[1:]))
            for figure, (part, word) in ((2, ("test", "test")), (5, ("train", "training")))
        ),
    ),
    table(
        9,
        QFFL_TABLES["9"],
        "table 9: a family of q on Synthetic",
        partial(values, objectives={"Synthetic": tuple(map(name_of, QS))}),
        units=partial(family, datasets=("Synthetic",)),
    ),
    table(
        10,
        QFFL_TABLES["10"],
        "table 10: several q in parallel, each device keeps its best model",
        with_own_best,
        "table 10",
    ),
)
