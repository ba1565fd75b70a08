"""Which rule is dynamically fairer on two quadratics, FedAvg or its normalised form: exactly.

Every panel is a map of two of ||g_1||, ||g_2||, their angle, the step size and the time; shaded by
the rule under which the newcomer leads by less (``studies.dynamic_quadratics``). Dotted: where the
repaired theorems 2 (a, b) and 1 (h) speak, inside the region that they speak of. Dashed: ||g_2|| =
2, from where theorem 2 as printed claims the normalised rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fairfl._support.checks import Array
from fairfl.figures.lib import style
from fairfl.figures.lib.tables import names, numbers, pick
from fairfl.studies.dynamic_quadratics import Pair, lead, lead_of_flow

NAME = "dynamic_quadratics"
TITLE = (
    "Dynamic participants, theorems 1 and 2 on quadratics: which rule is fairer after a round, "
    "after many, and when FedAvg is unfair"
)
NORMALISED, FEDAVG, GREEN = "#BFE3D6", "#F6D3B8", "#009E73"
"""Where the normalised rule is the fairer one, where FedAvg is, and a second line for the first."""
SIZES = (0.02, 6.0)
ANGLES = 0.6, 0.9
"""||g_1|| and ||g_2|| of panel (d)."""
FIRST_LAYER, SECOND_COSINE = (1.0, 1.5, 0.9), -0.5
"""||g_1||, ||g_2|| and cosine in the first layer of panel (e), and the cosine in the second."""
HEAD_START, STEP = 1.0, 1 / 3
"""Of panel (h): what group 1 has gained before, and eta at curvatures of 1."""
ONE, TWO = "||g₁||", "||g₂||"

Leads = dict[str, Array]


@dataclass(frozen=True)
class Panel:
    """A map: its title, (x, y) -> leads by rule, ranges and labels."""

    title: str
    leads: Callable[[Array, Array], Leads]
    x: tuple[float, float] = SIZES
    y: tuple[float, float] = SIZES
    labels: tuple[str, str] = (ONE, TWO)


def _round(x: Array, y: Array, cosine: float, eta: float = 1.0, second: float = 1.0) -> Leads:
    """One round at the lengths x, y; the curvatures 1 and ``second``."""
    pair = Pair.of(x[..., None], y[..., None], cosine, 1.0, second)
    return {rule: lead(pair, eta, rule) for rule in ("fedavg", "normalised")}


def _flow(x: Array, y: Array, time: float, degrees: float = 60.0, second: float = 1.0) -> Leads:
    """After ``time`` of both flows."""
    pair = Pair.of(x[..., None], y[..., None], np.cos(np.radians(degrees)), 1.0, second)
    return {rule: lead_of_flow(pair, time, rule) for rule in ("fedavg", "normalised")}


def _layers(x: Array, y: Array) -> Leads:
    """One round with two layers, x and y the lengths in the second."""
    a, b, cosine = FIRST_LAYER
    lengths = np.stack([np.full_like(x, a), x], -1), np.stack([np.full_like(y, b), y], -1)
    pair = Pair.of(*lengths, [cosine, SECOND_COSINE])
    return {rule: lead(pair, 1.0, rule) for rule in ("fedavg", "normalised", "by layer")}


def _angles(x: Array, y: Array) -> Leads:
    """One round: the angle in degrees, and eta (l_2 - l_1), in which the lead is linear."""
    cosine = np.cos(np.radians(x))[..., None]
    leads = {}
    for rule in ("fedavg", "normalised"):
        flat, curved = (lead(Pair.of(*ANGLES, cosine, 1.0, l), 1.0, rule) for l in (1.0, 2.0))
        leads[rule] = flat + y * (curved - flat)
    return leads


PANELS = {
    "round-60": Panel("one round, 60°", partial(_round, cosine=0.5)),
    "round-120": Panel("one round, 120°", partial(_round, cosine=-0.5)),
    "curved": Panel("60°, η(ℓ₂ − ℓ₁) = 1", partial(_round, cosine=0.5, second=2.0)),
    "angles": Panel(
        f"{ONE} = {ANGLES[0]}, {TWO} = {ANGLES[1]}",
        _angles,
        (0.0, 180.0),
        (-2.0, 2.0),
        ("angle, degrees", "η(ℓ₂ − ℓ₁)"),
    ),
    "layers": Panel("two layers", _layers, labels=(f"{ONE}, layer 2", f"{TWO}, layer 2")),
    "flow": Panel("ηT = 1.5, 15°", partial(_flow, time=1.5, degrees=15.0)),
    "limit": Panel("limit, ℓ₂ = 2ℓ₁", partial(_flow, time=np.inf, second=2.0)),
    "unfair": Panel("fair after a round?", partial(_round, cosine=0.5, eta=STEP)),
}


def data(points: int = 61) -> pd.DataFrame:
    """One row a point of a map, ``points`` a side.

    Returns
    -------
    Columns: panel, x, y; fedavg, normalised, by layer: the newcomer's lead under each rule, in
    units of the loss; the last is NaN but in the panel "layers".
    """
    parts = []
    for name, panel in PANELS.items():
        x, y = np.meshgrid(*(np.linspace(*side, points) for side in (panel.x, panel.y)))
        leads = panel.leads(x, y)
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
        if name == "unfair":
            _unfair(axes, x, y, leads)
        else:
            _fairer(axes, x, y, leads)
        _theorems(axes, name)
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


def _fairer(axes: Axes, x: Array, y: Array, leads: Leads) -> None:
    """Shaded by the sign of the difference of the leads; by layer a line of its own."""
    _shade(axes, x, y, leads["fedavg"] - leads["normalised"], (FEDAVG, NORMALISED))
    if not np.isnan(leads["by layer"]).all():
        gain = leads["fedavg"] - leads["by layer"]
        axes.contour(x, y, gain, levels=[0.0], colors=GREEN, linewidths=1.2)


def _unfair(axes: Axes, x: Array, y: Array, leads: Leads) -> None:
    """Where group 1 has gained no more than the lead: FedAvg's shaded, the other's a line."""
    _shade(axes, x, y, leads["fedavg"] - HEAD_START, ("#FFFFFF", FEDAVG))
    left = leads["normalised"] - HEAD_START
    axes.contour(x, y, left, levels=[0.0], colors=GREEN, linewidths=1.2)


def _shade(axes: Axes, x: Array, y: Array, value: Array, colours: tuple[str, str]) -> None:
    axes.contourf(x, y, value, levels=[-1e9, 0.0, 1e9], cmap=ListedColormap(colours))
    axes.contour(x, y, value, levels=[0.0], colors=style.INK, linewidths=0.8)


def _theorems(axes: Axes, name: str) -> None:
    """||g_2|| = 2, and the edges of the repaired conditions that speak of this panel."""
    if name in ("round-60", "round-120", "curved"):
        axes.axhline(2.0, color=style.INK, lw=0.8, ls=(0, (4, 2)))
    least = {
        "round-60": 4.0,
        "round-120": 4.0,
        "unfair": float(np.sqrt(16 / 3 * HEAD_START / STEP)),
    }.get(name)
    if least is not None:
        axes.plot([0, least / 2, 3], [least, least, 6], color=style.INK, lw=0.9, ls=":")


def _legend() -> list[Patch | Line2D]:
    edge = {"ec": style.INK, "lw": 0.6}
    return [
        Patch(fc=NORMALISED, label="the normalised rule is fairer", **edge),
        Patch(fc=FEDAVG, label="FedAvg is fairer; (h): is unfair", **edge),
        Line2D([], [], color=GREEN, lw=1.2, label="(e): by layer; (h): the normalised rule"),
        Line2D([], [], color=style.INK, lw=0.9, ls=":", label="theorems 2 (a, b), 1 (h), repaired"),
        Line2D([], [], color=style.INK, lw=0.8, ls=(0, (4, 2)), label="theorem 2, ||g₂|| = 2"),
    ]
