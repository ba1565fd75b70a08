"""Pictures of experiments: accuracies over clients, and accuracy by round; a panel a data set."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pandas.api.types import is_numeric_dtype

from fairfl.figures.lib import style
from fairfl.figures.lib.crosscheck import LINES, figure_of
from fairfl.figures.lib.saved import save
from fairfl.figures.lib.tradeoff import draw_tradeoff
from fairfl.studies.frames import floats, groups, loose, names, pick

if TYPE_CHECKING:
    from fairfl.studies.experiment import Picture

COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's; the eighth curve has the first colour, with another line."""
BANDS = 3
"""Largest number of curves with bands in a panel: more bands would hide each other."""
SERIES = {"dataset": "panel", "objective": "series", "round": "x", "average": "y"}
SERIES |= {"least": "low", "most": "high"}
"""Columns of a table of rounds as those of a ``Drawing``."""


def draw(picture: Picture, clients: pd.DataFrame, folder: Path) -> list[Path]:
    """Write a picture's name.csv, .svg and .png; ``clients``, or of a "tradeoff" the ``points``."""
    kinds: dict[str, tuple[Callable[..., pd.DataFrame], Callable[..., Figure]]] = {
        "distribution": (distribution, draw_distribution),
        "convergence": (rounds, draw_rounds),
        "tradeoff": (pd.DataFrame.copy, partial(draw_tradeoff, x=picture.x)),
    }
    make, draw_table = kinds[picture.kind]
    table = make(clients)
    with style.sheet():
        words = [column for column in table if not is_numeric_dtype(table[column])]
        plain = {str(word): table[word].map(style.plain) for word in words}
        figure = draw_table(table.assign(**plain))
        figure.suptitle(style.plain(picture.title))
        return save(picture.name, picture.title, table, figure, folder)


def distribution(clients: pd.DataFrame) -> pd.DataFrame:
    """Share of the devices, all seeds together, at or below each accuracy."""
    parts = []
    for dataset in names(clients, "dataset"):
        for objective in names(pick(clients, dataset=dataset), "objective"):
            accuracies = 100 * floats(
                pick(clients, dataset=dataset, objective=objective), "accuracy"
            )
            met, counts = np.unique(accuracies, return_counts=True)
            columns = {"dataset": dataset, "objective": objective, "accuracy": met}
            parts.append(pd.DataFrame({**columns, "share": 100 * np.cumsum(counts) / counts.sum()}))
    return pd.concat(parts, ignore_index=True)


def rounds(clients: pd.DataFrame) -> pd.DataFrame:
    """Average accuracy over samples by round, and its least and most by seed."""
    keys = ["dataset", "objective", "round", "seed"]
    weighted = clients.assign(right=floats(clients, "accuracy") * floats(clients, "samples"))
    sums = pd.DataFrame(
        weighted.groupby(keys, sort=False)[["right", "samples"]].sum()
    ).reset_index()
    sums["average"] = sums["least"] = sums["most"] = (
        100 * floats(sums, "right") / floats(sums, "samples")
    )
    grouped = sums.groupby(keys[:3], sort=False)
    ends = {"average": "mean", "least": "min", "most": "max"}
    return pd.DataFrame(grouped.agg(ends)).reset_index()


def draw_distribution(table: pd.DataFrame) -> Figure:
    """An empirical distribution function per objective, from the least accuracy, in whole tens."""
    starts = 10 * np.floor(loose(table).groupby("dataset")["accuracy"].min() / 10)
    parts = []
    for (panel, series), part in groups(table, ["dataset", "objective"]):
        x = [float(starts[panel]), *floats(part, "accuracy"), 100.0]
        columns = {"panel": panel, "series": series, "kind": "steps"}
        parts.append(pd.DataFrame({**columns, "x": x, "y": [0.0, *floats(part, "share"), 100.0]}))
    labels = "accuracy of a device (%)", "devices with at most that (%)"
    return _figure(pd.concat(parts, ignore_index=True), *labels)


def draw_rounds(table: pd.DataFrame) -> Figure:
    """A curve per objective, with a band over seeds where no panel has more than ``BANDS``."""
    count = loose(table).groupby("dataset")["objective"].nunique().max()
    series = table.rename(columns=SERIES).assign(kind="band" if count <= BANDS else "line")
    return _figure(series, "round", "average accuracy (%)")


def _figure(table: pd.DataFrame, x: str, y: str) -> Figure:
    """A panel a data set, a curve an objective; ``x`` and ``y`` are the labels of the axes."""
    from fairfl.studies.crosscheck.study import Drawing  # torch: figures do without

    looks: dict[str, style.Look] = {
        name: {"color": COLOURS[k % len(COLOURS)], "ls": LINES[k % len(LINES)], "marker": ""}
        for k, name in enumerate(names(table, "series"))
    }
    return figure_of("", [(Drawing("", "", x, y, pd.DataFrame.copy), table)], looks)
