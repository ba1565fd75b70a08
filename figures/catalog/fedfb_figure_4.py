"""FedFB figure 4: the disparity of LFT+Ensemble over the clients' budgets (ε0, ε1), with its exact
minimum.

Three federations of two clients with normal laws and logistic η: (a) example 1, (b) and (c) section
5.1. The pooled MD is Σ_j π_j G_j(ε_j), so a panel needs two curves only. The paper says that δ > 0
in all three. On (b) client 0's unconstrained MD_0 is about 3e-524: at ε0 = 0 exactly its constraint
binds, its thresholds move by 0.2, and at (0, 0) the ensemble is perfectly fair. For ε0 > 0 the
least disparity is the positive one of the paper's picture. Both are drawn: the strip on the left is
ε0 = 0.
"""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfl._support.checks import Array
from fairfl.figures.lib import style
from fairfl.solvers.api import min_disparity
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve
from fairfl.studies.frames import first, floats, names, pick
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import figure_5

NAME = "fedfb_figure_4"
TITLE = (
    "FedFB figure 4: the disparity of LFT+Ensemble over the local budgets, and the smallest "
    "that it can reach"
)

POINTS = 61
POSITIVE = "minimum, eps_0 > 0"
MARK = {"color": "#E69F00", "mec": "black", "mew": 0.5, "ls": ""}
EXAMPLE = "example 1: sd 70 and 1"
PRINTED = {EXAMPLE: " (paper: ≈ 0.21)"}
NO_DOUBLE = 1e-300
"""Where |MD_i| is below this, ε_i = 0 differs from all positive budgets in double precision."""


def federations() -> dict[str, Federation]:
    """The three panels' federations by title."""
    return {
        EXAMPLE: Federation.normal([[0, 0], [3, -1]], [70, 1], 0.5),
        "5.1: same group favoured": Federation.normal([[10, 9.8], [0.2, 0]], 0.2, 0.2),
        "5.1: opposite groups favoured": figure_5(),
    }


def data(points: int = POINTS) -> pd.DataFrame:
    """The grid of budgets, and the marked minima. Columns: panel; point: "grid", "minimum" (over
    [0, 1]²), or "minimum, eps_0 > 0" (where that differs); eps_0; eps_1; mean_difference;
    disparity; log10_erm_0: log10 |MD_0| of client 0 without a constraint.
    """
    parts = []
    for panel, fed in federations().items():
        rules = local_rules(fed)
        _, free, sign = rules.problem.free
        # budgets above a client's unconstrained |MD_i| do not bind: the grid has these kinks
        eps = np.unique(np.concatenate([np.linspace(0.0, 1.0, points), np.abs(free)]))
        left, right = contributions(rules, np.column_stack([eps, eps]))
        columns = {"eps_0": np.repeat(eps, eps.size), "eps_1": np.tile(eps, eps.size)}
        columns["mean_difference"] = (left[:, None] + right[None]).ravel()
        grid = pd.DataFrame({"point": "grid", **columns})
        smallest = min_disparity(fed, "lft_ensemble")
        marks = [_mark("minimum", rules, smallest.eps)]
        if sign[0] != 0 and abs(float(free[0])) < NO_DOUBLE:
            # no positive double binds client 0: the minimum over ε0 > 0 is that with ε0 slack
            j = np.abs(left[-1] + right).argmin()
            marks.append(_mark(POSITIVE, rules, np.array([1.0, eps[j]])))
        part = pd.concat([grid, *marks], ignore_index=True)
        part.insert(0, "panel", panel)
        part["disparity"] = part["mean_difference"].abs()
        part["log10_erm_0"] = log10_unconstrained(rules, 0)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def local_rules(fed: Federation) -> EnsembleCurve:
    """The clients' rules."""
    assert isinstance(fed.model, ContinuousModel)
    return EnsembleCurve(fed, fed.model)


def contributions(rules: EnsembleCurve, eps: Array) -> Array:
    """(I, E) π_j G_j(ε_j): the terms of the clients' rules in the pooled MD at budgets (E, I)."""
    return rules.fed.weight[:, None] * rules.tradeoff_at(rules.solved(eps))[0]


def _mark(point: str, rules: EnsembleCurve, eps: Array) -> pd.DataFrame:
    """One marked point; a budget of 1, "no constraint", is drawn at the least that is none."""
    free = np.abs(rules.problem.free[1])
    shown = np.where(eps == 1.0, np.maximum(free, float(point != "minimum")), eps)
    value = float(contributions(rules, eps[None]).sum())
    return pd.DataFrame(
        {"point": [point], "eps_0": shown[:1], "eps_1": shown[1:], "mean_difference": [value]}
    )


def log10_unconstrained(rules: EnsembleCurve, client: int) -> float:
    """log10 |MD_i| of a client's unconstrained rule, from log tails; -inf where exactly fair."""
    assert isinstance(rules.model, ContinuousModel)
    cuts = rules.problem.free[0]
    # (group, above/below)
    tails = np.array([rules.model.own_log_tails(a, cuts[a]) for a in (0, 1)])[:, :, client]
    # the smaller of the two tails: differences of the larger are rounding
    small = tails[:, tails.max(axis=0).argmin()]
    with np.errstate(divide="ignore"):
        return float((small.max() + np.log1p(-np.exp(-abs(small[0] - small[1])))) / np.log(10))


def draw(data: pd.DataFrame) -> Figure:
    """Three maps with one colour scale; ε0 = 0 is a strip on the left where its minimum differs."""
    figure = Figure(figsize=(style.PAGE, 3.0))
    grid = figure.subplots(1, 3)
    top = float(floats(data, "disparity").max())
    meshes: list[QuadMesh] = []
    for k, (axes, panel) in enumerate(zip(grid, names(data, "panel"), strict=True)):
        meshes.append(_panel(axes, pick(data, panel=panel), top))
        style.letter(axes, k, panel)
        axes.set_xlabel("client 0's budget ε0 (|MD|)")
    grid[0].set_ylabel("client 1's budget ε1 (|MD|)")
    label = "disparity |MD| of the ensemble"
    figure.colorbar(meshes[-1], ax=list(grid), label=label, fraction=0.04, pad=0.01)
    marks = [
        Line2D([], [], marker="*", ms=9, label="smallest over [0, 1]²", **MARK),
        Line2D([], [], marker="D", ms=5, label="smallest over ε0 > 0, where that differs", **MARK),
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=2)
    return figure


def _panel(axes: Axes, part: pd.DataFrame, top: float) -> QuadMesh:
    """One federation's disparity over the budgets; colours from 0 to ``top``."""
    table = pick(part, point="grid").pivot(index="eps_1", columns="eps_0", values="disparity")
    x, y, z = table.columns.to_numpy(float), table.index.to_numpy(float), table.to_numpy()
    best, positive = pick(part, point="minimum"), pick(part, point=POSITIVE)
    left = 0 if positive.empty else 1
    # rasterized: thousands of cells as one image in the SVG, without seams between them
    mesh = axes.pcolormesh(
        x[left:], y, z[:, left:], shading="gouraud", vmin=0, vmax=top, rasterized=True
    )
    levels = np.arange(0.05, z[-1, -1], 0.05)
    inks = np.where(levels < 0.55 * top, "white", "black").tolist()  # on blue to grey; on yellow
    lines = axes.contour(x[left:], y, z[:, left:], levels=levels, colors=inks, linewidths=0.4)
    # the disparity rises with ε1 on the right edge
    heights = np.interp(levels[levels > z[0, -1]], z[:, -1], y)
    axes.clabel(lines, fontsize=6, fmt="%.2f", manual=[(0.8, height) for height in heights])
    axes.grid(visible=False)
    axes.set(ylim=(-0.02, 1.02), xlim=(-0.02, 1.02), yticks=[0, 0.5, 1])
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    if positive.empty:
        text = f"δ = {first(best, 'disparity'):.4f}{PRINTED.get(names(part, 'panel')[0], '')}"
        _annotate(axes, best, first(best, "eps_0"), text, "*", 9)
        return mesh
    strip = np.repeat(z[:, :1], 2, axis=1)
    axes.pcolormesh([-0.29, -0.15], y, strip, shading="gouraud", vmin=0, vmax=top, rasterized=True)
    axes.set_xlim(-0.31, 1.02)
    axes.set_xticks([-0.22, x[1], 0.5, 1], ["= 0", "> 0", "0.5", "1"])
    write = partial(axes.text, color="white", ha="center", va="center")
    write(-0.22, 0.5, f"δ = {round(first(best, 'disparity'), 9):g}, at (0, 0)", rotation=90)
    _annotate(axes, best, -0.22, "", "*", 9)
    # constant over ε0 > 0: marked at one budget
    _annotate(axes, positive, 0.15, f"δ = {first(positive, 'disparity'):.4f}", "D", 5)
    power = f"$10^{{{first(best, 'log10_erm_0'):.1f}}}$"
    write(0.5, 0.7, f"unconstrained,\n|MD| of client 0\nis {power}")
    return mesh


def _annotate(
    axes: Axes, mark: pd.DataFrame, place: float, text: str, marker: str, size: float
) -> None:
    """A mark at (place, ε1), and its value above it."""
    height = first(mark, "eps_1")
    axes.plot([place], [height], marker=marker, ms=size, clip_on=False, **MARK)
    axes.annotate(text, (place, height), xytext=(6, 11), textcoords="offset points", color="white")
