"""Partitions of a labelled data set: which client holds how much of which class."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfl.figures.lib import style
from fairfl.figures.lib.tables import names, numbers, pick
from fairfl.sims.data.partition import dirichlet, iid, label_shards, summarise, two_groups

NAME = "partitions"
TITLE = (
    "Partitions of 10 classes among 10 clients: rows of each class with each client, and their skew"
)
ROWS, CLASSES, CLIENTS = 5000, 10, 10


def data() -> pd.DataFrame:
    """Rows of each class with each client, five partitions of 5,000 rows of ten equal classes, seed
    0.

    Returns
    -------
    Columns: partition, client, class, rows; skew: the client's distance from the whole in total
    variation.
    """
    label = np.arange(ROWS) % CLASSES
    owners = {
        "iid": iid(ROWS, CLIENTS),
        "Dirichlet, β = 5": dirichlet(label, CLIENTS, 5.0),
        "Dirichlet, β = 0.5": dirichlet(label, CLIENTS, 0.5, min_size=10),
        "label shards, 2 each": label_shards(label, CLIENTS, 2),
        "two groups, α = 0.9": two_groups(label, 0.9, CLIENTS // 2),
    }
    parts = []
    for name, owner in owners.items():
        wide = summarise(owner, label).reset_index()
        long = wide.melt(["client", "skew"], list(range(CLASSES)), "class", "rows")
        parts.append(long.assign(partition=name)[["partition", "client", "class", "rows", "skew"]])
    return pd.concat(parts, ignore_index=True)


def draw(data: pd.DataFrame) -> Figure:
    """A panel a partition: a disc a client and class, its area the number of rows."""
    partitions = names(data, "partition")
    figure = Figure(figsize=(style.PAGE, 4.9))
    grid = figure.subplots(2, 3, squeeze=False)
    largest = float(numbers(data, "rows").max())
    for k, name in enumerate(partitions):
        axes, part = grid.flat[k], pick(data, partition=name)
        area = 90 * numbers(part, "rows") / largest
        axes.scatter(numbers(part, "client"), numbers(part, "class"), s=area, color="#0072B2", lw=0)
        style.letter(axes, k, name)
        skew = part.groupby("client")["skew"].first().mean()
        place = {"transform": axes.transAxes, "ha": "center", "va": "top"}
        axes.text(0.5, 1.0, f"mean skew {skew:.2f}", fontsize=6, **place)
        axes.set(xlim=(-0.8, CLIENTS - 0.2), ylim=(-0.8, CLASSES + 0.4))
        axes.set(xlabel="client", xticks=range(0, CLIENTS, 3))
        axes.set(ylabel="class", yticks=range(0, CLASSES, 3))
    for axes in grid.flat[len(partitions) :]:
        axes.set_axis_off()
    if len(partitions) < grid.size:
        _legend(grid.flat[-1], int(largest))
    return figure


def _legend(axes: Axes, largest: int) -> None:
    """Discs with their numbers of rows, and what the skew is."""
    for k, rows in enumerate((largest, largest // 4, largest // 20)):
        axes.scatter(0.25, 0.85 - 0.15 * k, s=90 * rows / largest, color="#0072B2", lw=0)
        axes.text(0.4, 0.85 - 0.15 * k, f"{rows} rows", va="center")
    told = "skew: total variation distance\nof a client's classes from all"
    axes.text(0.1, 0.3, told, va="top", fontsize=6)
    axes.set(xlim=(0, 1), ylim=(0, 1))
