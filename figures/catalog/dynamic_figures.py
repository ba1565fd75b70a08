"""Dynamic participants, figures 1 to 8: curves by round, a row of panels for each set of runs, of
``figures/lib/dynamic.csv``; with ``FAIRFL_RUNS=DIR`` of the runs in DIR.
"""

from functools import partial
from pathlib import Path

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import FOUR, MAIN, SIX, WITHIN, Measures, Row
from fairfl.figures.lib.figure_entry import FigureEntry

FEW = "2,000 rows"
"""Runs of 2,000 rows, at a learning rate of 0.1; runs of all rows use the paper's, 0.01."""
TWO, MANY = (f"{groups} groups, two layers, α = 0.9, {FEW}" for groups in ("two", "10"))
CLIPPED = ("FedAvg", "Algorithm 3")
QS = ("FedAvg", *(f"q-FedAvg, q = {q}" for q in (0.01, 0.1, 1)))
MERGED = (
    "FedAvg",
    *(f"Algorithm 4 on {rule}" for rule in ("1", "2", "2, printed")),
    "Algorithm 2",
    "q-FedAvg, q = 0.1",
)
NORMS = ("Algorithm 1", "Algorithm 1, global norm", "Algorithm 2", "Algorithm 2, global norm")
BETAS = ("FedAvg", *(f"Algorithm 2, β = {beta}" for beta in (0.25, 0.5, 0.75)), "Algorithm 2")


def figure(
    number: int, title: str, *rows: Row, others: tuple[Row, ...] = (), columns: int = 4
) -> FigureEntry:
    """One figure: its rows, and those of the other data sets that have been run."""
    name, title = f"dynamic_figure_{number}", f"Dynamic participants, figure {number}: {title}"
    data, draw = partial(dynamic.curves, rows, others), partial(dynamic.draw, columns=columns)
    return FigureEntry(name, title, data, draw, Path(__file__), reads=dynamic.runs)


def row(
    name: str, scene: str, objectives: tuple[str, ...] = MAIN, measures: Measures = FOUR
) -> Row:
    """A row of panels on MNIST; its name contains the number of training rows."""
    return Row(f"{name}\n{scene.rpartition(', ')[2]}", f"MNIST, {scene}", objectives, measures)


def other_data(groups: str, model: str, rows: tuple[str, str]) -> tuple[Row, ...]:
    """Panels (b) and (c) of figures 1 and 2."""
    fashion, cifar = (f"α = 0.9, {count} rows" for count in rows)
    return (
        Row("Fashion-MNIST", f"Fashion-MNIST, {groups} groups, {model}, {fashion}", measures=SIX),
        Row("CIFAR-10", f"CIFAR-10, {groups} groups, ResNet-18, {cifar}", measures=SIX),
    )


FIGURES = (
    figure(
        1,
        "two groups, group benefit and convergence of FedAvg and algorithms 1 and 2",
        row("two layers", "two groups, two layers, α = 0.9, 70,000 rows", measures=SIX),
        row("two layers", TWO, measures=SIX),
        row("LeNet", f"two groups, LeNet, α = 0.9, {FEW}", measures=SIX),
        others=other_data("two", "LeNet", ("2,000", "500")),
        columns=3,
    ),
    figure(
        2,
        "ten groups, group benefit and convergence of FedAvg and algorithms 1 and 2",
        row("two layers", MANY, measures=SIX),
        others=other_data("10", "two layers", ("2,000", "2,000")),
        columns=3,
    ),
    figure(
        3,
        "clipping (algorithm 3) against FedAvg, two groups and ten",
        row("two groups", TWO, CLIPPED),
        row("ten groups", MANY, CLIPPED),
    ),
    figure(4, "q-FedAvg with several q, two groups", row("MNIST", TWO, QS, WITHIN)),
    figure(
        5,
        "algorithm 4, q-FedAvg merged with algorithms 1 and 2, between and within two groups",
        row("MNIST", TWO, MERGED, WITHIN),
    ),
    figure(
        6,
        "how far the groups' classes differ, from groups that are alike (α = 0.5) to ones that "
        "share no class (1)",
        *(
            row(f"α = {alpha:g}", f"two groups, two layers, α = {alpha:g}, {FEW}")
            for alpha in (0.5, 0.7, 0.9, 1.0)
        ),
    ),
    figure(
        7,
        "norms by layer or global, and the β of algorithm 2",
        row("norms", TWO, NORMS),
        row("β", TWO, BETAS),
    ),
    figure(
        8,
        "other models, linear and with two layers",
        *(row(model, f"two groups, {model}, α = 0.9, {FEW}") for model in ("linear", "two layers")),
    ),
)
