"""Pictures of the cross-check: panels of series, as a study's ``Drawing`` describes them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfl.figures.lib import style
from fairfl.figures.lib.saved import save
from fairfl.solvers.schemes import SHARED_RULE, LineStyle
from fairfl.studies.frames import floats, names, pick

if TYPE_CHECKING:
    from fairfl.studies.crosscheck.study import Drawing

COLOURS = ("#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#999933", "#7F7F7F")
"""Okabe and Ito's without those of the three schemes, Tol's wine and olive, and grey."""
MARKERS = ("D", "v", "P", "X", "o", "^", "s")
LINES: tuple[LineStyle, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (4, 1.4, 1, 1.4)))
"""Line styles. Neighbours differ, so that a curve below another remains visible."""


WIDE = 1.5
"""Width of one panel alone, text columns."""
HANDLE, LETTER = 0.82, 0.07
"""Widths of a legend's handle and of a letter beside it, inches."""


def draw(drawing: Drawing, measures: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the picture's name.csv, .svg and .png; no files if its table is empty."""
    table = drawing.table(measures)
    if len(table) == 0:
        return []
    return draw_together(drawing.name, drawing.title, [(drawing, table)], folder)


def draw_together(
    name: str, title: str, drawings: Sequence[tuple[Drawing, pd.DataFrame]], folder: Path
) -> list[Path]:
    """Write name.csv, .svg and .png of one picture with the panels of all drawings."""
    table = pd.concat([table for _, table in drawings], ignore_index=True)
    with style.sheet():
        return save(name, title, table, figure_of(title, drawings), folder)


def figure_of(
    title: str,
    drawings: Sequence[tuple[Drawing, pd.DataFrame]],
    looks: dict[str, style.Look] | None = None,
) -> Figure:
    """The drawings' panels, and every series once in the legend; ``looks`` default: ``look_of``."""
    looks = looks or look_of(pd.concat([table for _, table in drawings], ignore_index=True))
    panels = [
        (drawing, table, panel) for drawing, table in drawings for panel in names(table, "panel")
    ]
    columns = 2 if len(panels) in (2, 4) else min(3, len(panels))
    width = style.PAGE if columns > 1 else WIDE * style.COLUMN
    capacity = int(width / (HANDLE + LETTER * max(map(len, looks))))
    legend_columns = max(1, min(5, len(looks), capacity))
    legend_lines = -(-len(looks) // legend_columns)
    figure, grid = style.panels(len(panels), columns, 2.6, 0.4 + 0.16 * legend_lines, WIDE)
    figure.suptitle(title)
    kinds = {series: list[str]() for series in looks}
    for k, (axes, (drawing, table, panel)) in enumerate(zip(grid, panels, strict=True)):
        rows = pick(table, panel=panel)
        for series in names(rows, "series"):
            for kind in names(pick(rows, series=series), "kind"):
                kinds[series].append(kind)
                _series(axes, pick(rows, series=series, kind=kind), kind, looks[series])
        style.letter(axes, k, panel)
        axes.set_xlabel(drawing.x)
        axes.set_ylabel(drawing.y if k % columns == 0 or len(drawings) > 1 else "")
    handles = [_handle(series, kinds[series], look) for series, look in looks.items()]
    below = "outside lower center"
    figure.legend(handles=handles, loc=below, ncols=legend_columns, handlelength=3.0)
    return figure


def look_of(table: pd.DataFrame) -> dict[str, style.Look]:
    """Colour, line and marker of each series: the scheme's if the name up to the comma is a
    scheme's. Series whose names agree up to the comma have one colour and different lines.
    """
    schemes = {scheme.label: scheme for scheme in SHARED_RULE}
    looks: dict[str, style.Look] = {}
    stems: list[str] = []
    for series in names(table, "series"):
        stem = series.partition(",")[0]
        if stem in schemes:
            look = schemes[stem]
            looks[series] = {"color": look.colour, "ls": look.line, "marker": look.marker}
            continue
        if stem not in stems:
            stems.append(stem)
        k, repeats = stems.index(stem), sum(name.partition(",")[0] == stem for name in looks)
        line = LINES[(k // len(COLOURS) + repeats) % len(LINES)]
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        looks[series] = {"color": colour, "ls": line, "marker": marker}
    return looks


def _series(axes: Axes, rows: pd.DataFrame, kind: str, look: style.Look) -> None:
    x, y = floats(rows, "x"), floats(rows, "y")
    colour, plain = look["color"], {"color": look["color"], "ls": look["ls"]}
    if kind in ("line", "steps"):
        drawn = "steps-post" if kind == "steps" else "default"
        axes.plot(x, y, lw=1.4, zorder=2, drawstyle=drawn, **plain)
    elif kind in ("path", "band"):
        axes.plot(x, y, lw=0.9, marker=look["marker"], ms=3.2, zorder=3, **plain)
        if kind == "band":
            low, high = floats(rows, "low"), floats(rows, "high")
            axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0, zorder=1)
    else:
        if "low" in rows and np.isfinite(floats(rows, "low")).any():
            bars = [y - floats(rows, "low"), floats(rows, "high") - y]
            axes.errorbar(x, y, bars, ls="none", color=colour, elinewidth=0.7, zorder=3)
        mark = partial(axes.plot, marker=look["marker"], ms=4.0, mfc="none", mew=0.9, ls="none")
        mark(x, y, color=colour, zorder=4)


def _handle(series: str, kinds: list[str], look: style.Look) -> Line2D:
    line = look["ls"] if {*kinds} - {"points"} else "none"
    marker = look["marker"] if {"points", "path", "band"} & set(kinds) else ""
    mark = {"marker": marker, "ms": 4.0, "mfc": "none" if "points" in kinds else look["color"]}
    return Line2D([], [], color=look["color"], ls=line, lw=1.3, label=series, **mark)
