"""Dynamic participants, figures 1 to 8: curves by round, a row of panels for each set of runs.

Figures 1 and 2 have a row more, (b) and (c), for each other data set that has been run.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import SIX, WITHIN, Row
from fairfl.figures.lib.registry import Entry

TWO, MANY = "two groups, two layers, α = 0.9", "10 groups, two layers, α = 0.9"
DATA = ("MNIST", "Fashion-MNIST", "CIFAR-10")
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
) -> Entry:
    """One figure: its rows, and the other data's where these have been run."""
    return Entry(
        f"dynamic_figure_{number}",
        f"Dynamic participants, figure {number}: {title}",
        partial(dynamic.curves, rows, others),
        partial(dynamic.draw, columns=columns),
        Path(__file__),
    )


def first(number: int, title: str, groups: str, *models: str) -> Entry:
    """Figures 1 and 2: (a) on MNIST, (b) and (c) where they have been run; a model for each."""
    rows = tuple(
        Row(data, data, f"{groups} groups, {model}, α = 0.9", measures=SIX)
        for data, model in zip(DATA, models, strict=True)
    )
    return figure(number, title, rows[0], others=rows[1:], columns=3)


FIGURES = (
    first(
        1,
        "two groups, group benefit and convergence of FedAvg and algorithms 1 and 2",
        "two",
        "LeNet",
        "LeNet",
        "ResNet-18",
    ),
    first(
        2,
        "ten groups, group benefit and convergence of FedAvg and algorithms 1 and 2",
        "10",
        "two layers",
        "two layers",
        "ResNet-18",
    ),
    figure(
        3,
        "clipping (algorithm 3) against FedAvg, two groups and ten",
        Row("two groups", "MNIST", TWO, CLIPPED),
        Row("ten groups", "MNIST", MANY, CLIPPED),
    ),
    figure(4, "q-FedAvg with several q, two groups", Row("MNIST", "MNIST", TWO, QS, WITHIN)),
    figure(
        5,
        "algorithm 4, q-FedAvg merged with algorithms 1 and 2, between and within two groups",
        Row("MNIST", "MNIST", TWO, MERGED, WITHIN),
    ),
    figure(
        6,
        "how far the groups' classes differ, from groups that are alike (α = 0.5) to ones that "
        "share no class (1)",
        *(
            Row(f"α = {alpha:g}", "MNIST", f"two groups, two layers, α = {alpha:g}")
            for alpha in (0.5, 0.7, 0.9, 1.0)
        ),
    ),
    figure(
        7,
        "norms by layer or global, and the β of algorithm 2",
        Row("norms", "MNIST", TWO, NORMS),
        Row("β", "MNIST", TWO, BETAS),
    ),
    figure(
        8,
        "other models, linear and with two layers",
        *(
            Row(model, "MNIST", f"two groups, {model}, α = 0.9")
            for model in ("linear", "two layers")
        ),
    ),
)
