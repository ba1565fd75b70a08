"""Client-aware rules f(x, a, i): the best accuracy under a budget on the pooled disparity and one
on each client's disparity.

FedFB's figure 5, q = (0.4, 0.6), on cells of x. (a) maps accuracy over (eps, local_eps), with the
other schemes at their two disparities; (b) cuts it along local_eps. Where only the pooled disparity
is limited, seeing the client gains nothing, for the clients have one η; where only the clients'
are, each has its own fair rule.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfl.figures.lib import style
from fairfl.solvers.api import solve
from fairfl.solvers.schemes import CLIENT_AWARE, SHARED_RULE, SOLVED
from fairfl.solvers.solution import Solution
from fairfl.studies.frames import floats, pick
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import SHARES_5, figure_5

NAME = "client_aware"
TITLE = (
    "Client-aware rules on FedFB's figure 5 (b): accuracy over the pooled and the local disparity "
    "(no figure of the paper's)"
)

POINTS = 25
EDGES = (-5.0, 9.1, 0.15)
"""Cells of x; the first and the last reach to infinity."""
CUTS = (np.inf, 0.3, 0.2, 0.1, 0.0)
"""Local budgets of panel (b)."""
LEVELS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
"""Contours, percentage points."""
PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.5}


def federation() -> Federation:
    """Figure 5 (b) on cells, with η at their middles."""
    laws = figure_5(SHARES_5[1])
    assert isinstance(laws.model, ContinuousModel)
    edges = np.arange(*EDGES)
    middle = (edges[:-1] + edges[1:]) / 2
    cdf = np.array([[law.cdf(edges) for law in client] for client in laws.model.laws])
    cdf[..., 0], cdf[..., -1] = 0.0, 1.0
    return Federation.finite(middle, np.diff(cdf) * laws.share[:, :, None], Logistic()(middle))


def data(points: int = POINTS) -> pd.DataFrame:
    """The grid of budgets, and the curves of rules that do not see the client. Columns: scheme;
    eps, local_eps, the budgets (infinite where a scheme has none); disparity; local_disparity, the
    larger of the clients'; accuracy.
    """
    fed = federation()
    unconstrained, fair = (solve(fed, "client_aware", eps) for eps in (np.inf, 0.0))
    eps = np.linspace(0.0, unconstrained.disparity, points)
    cfl = [solve(fed, "cfl", e) for e in eps]
    widest = max(s.local_disparities.max() for s in (unconstrained, fair, *cfl))
    local = np.linspace(0.0, widest, points)
    solved, rows = [solve(fed, "client_aware", e) for e in eps], []
    for local_eps in np.unique(np.append(local, CUTS))[::-1]:
        for k in reversed(range(points)):
            if solved[k].local_disparities.max() > local_eps:  # else it is optimal here too
                if k + 1 < points and solved[k + 1].disparity <= eps[k]:
                    solved[k] = solved[k + 1]
                else:
                    solved[k] = solve(fed, "client_aware", eps[k], local_eps=local_eps)
            rows.insert(0, _row(eps[k], local_eps, solved[k]))
    rows += [_row(e, np.inf, s) for e, s in zip(eps, cfl, strict=True)]
    for scheme in ("lft_fedavg", "lft_ensemble"):
        rows += [_row(np.inf, local_eps, solve(fed, scheme, local_eps)) for local_eps in local]
    return pd.DataFrame(rows)


def _row(eps: float, local_eps: float, s: Solution) -> dict[str, object]:
    row: dict[str, object] = {"scheme": s.scheme, "eps": eps, "local_eps": local_eps}
    row |= {"disparity": s.disparity, "local_disparity": s.local_disparities.max()}
    return row | {"accuracy": s.accuracy}


def draw(data: pd.DataFrame) -> Figure:
    """A map of the budgets, and cuts through it; a marker at each scheme's smallest disparity."""
    figure = Figure(figsize=(style.PAGE, 3.4))
    left, right = figure.subplots(1, 2)
    mesh = _map(left, pick(data, scheme="client_aware"))
    figure.colorbar(mesh, ax=left, label="below the best accuracy (percentage points)", pad=0.02)
    _cuts(right, pick(data, scheme="client_aware"))
    for look in SHARED_RULE:
        path = pick(data, scheme=look.name)
        fairest = int(floats(path, "disparity").argmin())
        for axes, column in ((left, "local_disparity"), (right, "accuracy")):
            x, y = floats(path, "disparity"), floats(path, column)
            axes.plot(x, y, **look.stroke, zorder=3)
            axes.plot(x[fairest], y[fairest], **look.mark, zorder=4, clip_on=False)
    style.letter(left, 0, "client-aware rules, and where the others stand")
    style.letter(right, 1, "cuts at local budgets")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=4, handlelength=3.6)
    return figure


def _map(axes: Axes, grid: pd.DataFrame) -> QuadMesh:
    finite = grid[np.isfinite(floats(grid, "local_eps"))]
    table = finite.pivot(index="local_eps", columns="eps", values="accuracy")
    x, y = table.columns.to_numpy(float), table.index.to_numpy(float)
    loss = 100.0 * (floats(grid, "accuracy").max() - table.to_numpy())
    mesh = axes.pcolormesh(x, y, loss, shading="gouraud", cmap="Greys", rasterized=True)
    lines = axes.contour(x, y, loss, levels=LEVELS, colors=style.INK, linewidths=0.5)
    across = np.interp(np.negative(LEVELS), -loss[-1], x)  # on the upper edge
    axes.clabel(lines, fontsize=6, fmt="%g", manual=[(at, 0.92 * y[-1]) for at in across])
    for place, text in (
        ((0.24, 0.7), "local budgets\ndo not bind"),
        ((0.74, 0.12), "the pooled budget\ndoes not bind"),
    ):
        axes.text(*place, text, transform=axes.transAxes, ha="center", va="center", bbox=PAPER)
    axes.grid(visible=False)
    axes.set(xlabel="pooled disparity, at most", ylabel="every client's disparity, at most")
    return mesh


def _cuts(axes: Axes, grid: pd.DataFrame) -> None:
    look = CLIENT_AWARE
    beside: style.Look = {"textcoords": "offset points", "va": "center"}
    for cut in CUTS:
        curve = pick(grid, local_eps=cut)
        x, y = floats(curve, "eps"), floats(curve, "accuracy")
        axes.plot(x, y, **look.stroke)
        label = "no local budget" if np.isinf(cut) else f"{cut:g}"
        axes.annotate(label, (x[-1], y[-1]), (3, 0), color=look.colour, **beside)
    axes.set(xlabel="pooled disparity, at most", ylabel="accuracy (share correct)")


def _legend() -> list[Line2D]:
    marks = {look: {} if look.sees_client else look.mark for look in SOLVED.values()}
    return [Line2D([], [], **look.stroke | mark, label=look.label) for look, mark in marks.items()]
