"""Which rule is dynamically fairer on two quadratics, FedAvg or its normalised form: exactly.

Every panel is a map of two of ||g_1||, ||g_2||, their angle, the step size and the time; shaded by
the rule under which the newcomer leads by less (``studies.dynamic_phases``). Dotted: edges of what
the repaired theorems 2 (a, b; f: at each time) and 1 (h) speak of, which is above them. Dashed:
||g_2|| = 2, from where theorem 2 as printed claims the normalised rule.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fairfl._support.checks import Array
from fairfl.figures.lib import style
from fairfl.figures.lib.dynamic import LOOKS
from fairfl.figures.lib.tables import names, numbers, pick
from fairfl.studies.dynamic_phases import PANELS, SIZES, Leads, Panel

NAME = "dynamic_quadratics"
TITLE = (
    "Dynamic participants, theorems 1 and 2 on quadratics: which rule is fairer after a round, "
    "after many, and when FedAvg is unfair"
)
NORMALISED, FEDAVG, BLUE = "#BBD8EC", "#D0D0D0", LOOKS["Algorithm 1"][0]
"""Where the normalised rule is the fairer one, where FedAvg is, tints of the colours that they have
in figures 1 to 8; and a second line for the first.
"""


def data(points: int = 61) -> pd.DataFrame:
    """One row a point of a map, ``points`` a side.

    Returns
    -------
    Columns: panel, x, y; fedavg, normalised, by layer: the newcomer's lead under each rule, in
    units of the loss; the last is NaN but in the panel "layers".
    """
    parts = []
    for name, panel in PANELS.items():
        x, y, leads = panel.at(points)
        third = leads.get("by layer", np.full_like(x, np.nan))
        columns = {"x": x, "y": y, **leads, "by layer": third}
        parts.append(
            pd.DataFrame({"panel": name, **{key: v.ravel() for key, v in columns.items()}})
        )
    return pd.concat(parts, ignore_index=True)


@style.styled
def draw(data: pd.DataFrame) -> Figure:
    """Eight maps, shaded by the rule that is the fairer one; the last by whether FedAvg is fair."""
    figure = Figure(figsize=(style.PAGE, 4.4))
    grid = figure.subplots(2, 4).flat
    for k, (axes, name) in enumerate(zip(grid, names(data, "panel"), strict=True)):
        panel, table = PANELS[name], pick(data, panel=name)
        x, y = (np.unique(numbers(table, side)) for side in ("x", "y"))
        leads = {
            rule: numbers(table, rule).reshape(len(y), len(x))
            for rule in ("fedavg", "normalised", "by layer")
        }
        _shaded(axes, x, y, leads, panel)
        for edge, line in ((panel.repaired, ":"), (panel.printed, (0, (4, 2)))):
            if edge is not None:
                axes.plot(*edge, color=style.INK, lw=0.9, ls=line)
        style.letter(axes, k, panel.title)
        axes.set(xlabel=panel.labels[0], ylabel=panel.labels[1], xlim=panel.x, ylim=panel.y)
        if panel.x == SIZES:
            ticks = {"ticks": (SIZES[0], 2, 4, 6), "labels": ("0", "2", "4", "6")}
            axes.set_xticks(**ticks)
            axes.set_yticks(**ticks)
        else:
            axes.set_xticks((0, 60, 120, 180))
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, columnspacing=1.4)
    return figure


def _shaded(axes: Axes, x: Array, y: Array, leads: Leads, panel: Panel) -> None:
    """Shaded by the sign of FedAvg's lead less the other's or the head start; a line for the rule
    that is not in it.
    """
    fair = panel.head_start is not None
    colours = ("#FFFFFF", FEDAVG) if fair else (FEDAVG, NORMALISED)
    gain = panel.gain(leads)
    axes.contourf(x, y, gain, levels=[-1e9, 0.0, 1e9], cmap=ListedColormap(colours))
    axes.contour(x, y, gain, levels=[0.0], colors=style.INK, linewidths=0.8)
    third = leads["normalised"] - panel.head_start if fair else leads["fedavg"] - leads["by layer"]
    if not np.isnan(third).all():
        axes.contour(x, y, third, levels=[0.0], colors=BLUE, linewidths=1.2)


def _legend() -> list[Patch | Line2D]:
    edge = {"ec": style.INK, "lw": 0.6}
    return [
        Patch(fc=NORMALISED, label="the normalised rule is fairer", **edge),
        Patch(fc=FEDAVG, label="FedAvg is fairer; (h): is unfair", **edge),
        Line2D([], [], color=BLUE, lw=1.2, label="(e): by layer; (h): the normalised rule"),
        Line2D(
            [], [], color=style.INK, lw=0.9, ls=":", label="theorems 2 (a, b, f), 1 (h), repaired"
        ),
        Line2D([], [], color=style.INK, lw=0.8, ls=(0, (4, 2)), label="theorem 2, ||g₂|| = 2"),
    ]
