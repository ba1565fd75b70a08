"""Pictures of experiments: accuracies over clients, and accuracy by round; a panel a data set."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from pandas.api.types import is_numeric_dtype

from fairfl.figures.lib import style
from fairfl.figures.lib.saved import save
from fairfl.figures.lib.tradeoff import draw_tradeoff
from fairfl.solvers.schemes import LineStyle
from fairfl.studies.frames import floats, names, pick

if TYPE_CHECKING:
    from fairfl.studies.experiment import Picture

COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours. From the eighth curve on they repeat with another line style, since
seven and four are coprime.
"""
LINES: tuple[LineStyle, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (5, 1.4, 1.2, 1.4)))
"""Line styles. Neighbours differ, so that a curve below another remains visible."""
BANDS = 3
"""Largest number of curves with bands in a panel: more bands would hide each other."""


class Curve(style.Stroke):
    """How a curve is drawn, and its name."""

    label: str


def draw(picture: Picture, clients: pd.DataFrame, folder: Path) -> list[Path]:
    """Write name.csv, .svg and .png of an experiment's picture; ``clients`` as in
    ``fairfl.studies.papers``; for the kind "tradeoff" the points of the experiment's ``points``.
    """
    tables: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
        "distribution": distribution,
        "convergence": rounds,
        "tradeoff": pd.DataFrame.copy,
    }
    points = partial(draw_tradeoff, x=picture.x)
    draws = {"distribution": draw_distribution, "convergence": draw_rounds, "tradeoff": points}
    table = tables[picture.kind](clients)
    with style.sheet():
        words = [column for column in table if not is_numeric_dtype(table[column])]
        figure = draws[picture.kind](
            table.assign(**{str(word): table[word].map(style.plain) for word in words})
        )
        figure.suptitle(style.plain(picture.title))
        return save(picture.name, picture.title, table, figure, folder)


def distribution(clients: pd.DataFrame) -> pd.DataFrame:
    """Share of the devices (all seeds together) at or below each accuracy: dataset, objective,
    accuracy, share.
    """
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
    """Average accuracy over samples by round: dataset, objective, round, average, and its least and
    most by seed.
    """
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
    panels = {
        name: floats(pick(table, dataset=name), "accuracy") for name in names(table, "dataset")
    }
    starts = {
        name: 10 * float(np.floor(accuracies.min() / 10)) for name, accuracies in panels.items()
    }
    draw_curve = partial(_draw_steps, starts)
    return _panels(table, draw_curve, "accuracy of a device (%)", "devices with at most that (%)")


def _draw_steps(starts: dict[str, float], axes: Axes, part: pd.DataFrame, look: Curve) -> None:
    x = np.concatenate([[starts[names(part, "dataset")[0]]], floats(part, "accuracy"), [100.0]])
    axes.step(x, np.concatenate([[0.0], floats(part, "share"), [100.0]]), where="post", **look)


def draw_rounds(table: pd.DataFrame) -> Figure:
    """A curve per objective, with a band from the smallest to the largest seed where no panel has
    more than ``BANDS`` curves.
    """
    has_bands = all(
        len(names(pick(table, dataset=name), "objective")) <= BANDS
        for name in names(table, "dataset")
    )
    draw_curve = _draw_band if has_bands else _draw_average
    return _panels(table, draw_curve, "round", "average accuracy (%)")


def _draw_average(axes: Axes, part: pd.DataFrame, look: Curve) -> None:
    axes.plot(floats(part, "round"), floats(part, "average"), **look)


def _draw_band(axes: Axes, part: pd.DataFrame, look: Curve) -> None:
    _draw_average(axes, part, look)
    x, lower, upper = (floats(part, column) for column in ("round", "least", "most"))
    axes.fill_between(x, lower, upper, color=look["color"], alpha=0.12, lw=0)


def _panels(
    table: pd.DataFrame, draw_curve: Callable[[Axes, pd.DataFrame, Curve], None], x: str, y: str
) -> Figure:
    """A panel a data set, a curve an objective; ``x`` and ``y`` are the labels of the axes."""
    datasets, objectives = names(table, "dataset"), names(table, "objective")
    figure, grid = style.panels(len(datasets), min(3, len(datasets)), 2.6, 0.9, 1.4)
    curves: dict[str, Line2D] = {}
    for k, (axes, dataset) in enumerate(zip(grid, datasets, strict=True)):
        for j, objective in enumerate(objectives):
            part = pick(table, dataset=dataset, objective=objective)
            if len(part):
                look: Curve = {
                    "color": COLOURS[j % len(COLOURS)],
                    "ls": LINES[j % len(LINES)],
                    "lw": 1.3,
                    "label": objective,
                }
                draw_curve(axes, part, look)
                curves.setdefault(objective, axes.lines[-1])
        style.letter(axes, k, dataset)
        axes.set(xlabel=x, ylabel=y)
    # widths of a handle and of a letter in inches
    capacity = figure.get_figwidth() / (0.62 + 0.07 * max(map(len, curves)))
    columns = max(1, min(5, len(curves), int(capacity)))
    lines = -(-len(curves) // columns)
    figure.set_figheight(figure.get_figheight() + 0.2 * max(0, lines - 2))
    figure.legend(curves.values(), curves.keys(), loc="outside lower center", ncols=columns)
    return figure
