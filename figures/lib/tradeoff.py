"""Accuracy against disparity, a panel a data set: runs, published points, the exact frontier."""

from typing import cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfl.figures.lib import style
from fairfl.studies.frames import floats, names, pick

COLOURS = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000 #8C6D31 #882255".split()
"""Okabe and Ito's, a brown and a wine."""
MARKERS = ("o", "s", "^", "D", "v", "p", "h", "P", "X")
SPREAD = 0.2
"""Largest visible part of a spread beyond the outermost means, as a share of the panel."""
LINE: style.Look = {"color": "#999999", "ls": "-", "lw": 1.6}


def draw_tradeoff(table: pd.DataFrame, x: str = "DP disparity", y: str = "accuracy") -> Figure:
    """``table``: columns of ``papers.fedfb.points``; bars are one sd, cut at the panel's limits."""
    panels = names(table, "dataset")
    columns = min(3, len(panels)) if len(panels) != 4 else 2
    objectives = names(
        pd.concat([pick(table, kind="ours"), pick(table, kind="published")]), "objective"
    )
    n = len(COLOURS)
    looks: dict[str, style.Look] = {  # no two of 81 objectives alike
        name: {"color": COLOURS[k % n], "marker": MARKERS[(k + k // n) % n]}
        for k, name in enumerate(objectives)
    }
    figure, grid = style.panels(len(panels), columns, 2.7, 1.1, 1.5)
    for k, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
        _panel(axes, pick(table, dataset=panel), looks)
        if len(panels) > 1:
            style.letter(axes, k, panel)
        axes.set(xlabel=x, ylabel=y if k % columns == 0 else "")
    figure.legend(
        handles=_legend(table, looks), loc="outside lower center", ncols=4 if columns > 1 else 3
    )
    return figure


def _panel(axes: Axes, table: pd.DataFrame, looks: dict[str, style.Look]) -> None:
    curve = pick(table, kind="frontier")
    if len(curve):
        x, y = floats(curve, "disparity"), floats(curve, "accuracy")
        # the frontier is constant beyond its end
        end = max(float(x[-1]), *(float(v) for v in floats(table, "disparity")))
        look = _line(names(curve, "objective")[0])
        axes.plot(np.append(x, end), np.append(y, y[-1]), zorder=1, **look)
    for name, look in looks.items():
        runs = pick(table, kind="ours", objective=name)
        for kind, face in (("published", "none"), ("ours", look["color"])):
            part = pick(table, kind=kind, objective=name)
            x, y = floats(part, "disparity"), floats(part, "accuracy")
            bars = {"xerr": floats(part, "disparity_sd"), "yerr": floats(part, "accuracy_sd")}
            marks = {"mfc": face, "ms": 5.0, "mew": 0.9, "elinewidth": 0.7, "zorder": 3}
            axes.errorbar(x, y, **bars, ls="none", **look, **marks)
        if len(runs) > 1:  # by setting: a thin line in the order of the grid
            x, y = floats(runs, "disparity"), floats(runs, "accuracy")
            axes.plot(x, y, color=look["color"], lw=0.6, zorder=2)
    seen = constants(table)
    axes.plot(floats(seen, "disparity"), floats(seen, "accuracy"), ls="none", **_CROSS)
    kinds = [pick(table, kind=kind) for kind in ("ours", "published", "frontier")]
    _limits(axes, pd.concat([part for part in (*kinds, seen) if len(part)]))


def _limits(axes: Axes, shown: pd.DataFrame) -> None:
    """The points fit in; spreads only up to a fifth of the panel, which they would compress."""
    for column, limit in (("disparity", axes.set_xlim), ("accuracy", axes.set_ylim)):
        middle = floats(shown, column)
        low, high = float(middle.min()), float(middle.max())
        extent = max(high - low, 1e-6)
        spread = np.nan_to_num(floats(shown, f"{column}_sd"))
        low, high = (
            max(float((middle - spread).min()), low - SPREAD * extent),
            min(float((middle + spread).max()), high + SPREAD * extent),
        )
        margin = 0.05 * (high - low)
        limit(low - margin, high + margin)


def constants(table: pd.DataFrame) -> pd.DataFrame:
    """A panel's constant rules, without those far below the other points."""
    low = min(
        float(floats(pick(table, kind=kind), "accuracy").min(initial=1.0))
        for kind in ("ours", "published")
    )
    rows = pick(table, kind="constant")
    return cast(pd.DataFrame, rows[floats(rows, "accuracy") >= low - 0.05])


_CROSS = {"color": style.INK, "marker": "x", "ms": 5.5, "mew": 1.1}


def _legend(table: pd.DataFrame, looks: dict[str, style.Look]) -> list[Line2D]:
    shown = [Line2D([], [], ls="none", ms=5.0, label=name, **look) for name, look in looks.items()]
    if len(pick(table, kind="published")):
        hollow = {"color": style.INK, "marker": "o", "mfc": "none", "ms": 5.0}
        shown.append(Line2D([], [], ls="none", label="published", **hollow))
    if any(len(constants(pick(table, dataset=panel))) for panel in names(table, "dataset")):
        shown.append(Line2D([], [], ls="none", label="constant", **_CROSS))
    behind = names(pick(table, kind="frontier"), "objective")
    return [*shown, *(Line2D([], [], label=name, **_line(name)) for name in behind)]


def _line(name: str) -> style.Look:
    """An exact frontier has a solid line, another one a dashed line."""
    return LINE if name.startswith("exact") else {**LINE, "ls": (0, (4, 1.5))}
