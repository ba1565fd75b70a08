"""PropFair's table 1 as pictures: the dual weights λ that each objective allows, for n = 3 clients.

Every λ >= 0 is a direction λ / 1ᵀλ, a point of a triangle whose corners put all weight on one
client, and a total 1ᵀλ. Shaded are the directions in which the conjugate A* is finite for some
total, which is 1 where there are no lines (AFL's printed 1ᵀλ <= 1 is for f >= 0). Lines are levels
of A* for TERM, of the largest total for q-FFL, and of the least for PropFair, which excludes the
edges. Rank-weighted is the permutahedron of Gini's weights (5, 3, 1)/9 and, dotted, of CVaR's of
the worst half.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.tri import LinearTriInterpolator, Triangulation

from fairfl._support.checks import Array
from fairfl.figures.lib import style
from fairfl.studies.frames import floats, names, pick
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, Objective, PropFair, RankWeighted

NAME = "feasible_weights"
TITLE = "PropFair table 1 as pictures: the feasible dual weights of each objective for n = 3"

OBJECTIVES: dict[str, Objective] = {
    "FedAvg": FedAvg(),
    "AFL": AFL(),
    "q-FFL, q = 1": QFFL(1.0),
    "TERM, α = 1": TERM(1.0),
    "PropFair": PropFair(2.0),
    "Rank-weighted": RankWeighted.gini(),
}
CVAR = "Rank-weighted, CVaR"
INNER = RankWeighted.cvar(0.5)
"""w = (2, 1, 0)/3, drawn into the last panel."""
WORDS = {
    "FedAvg": "λᵢ = 1/3",
    "AFL": "λ ≥ 0, 1ᵀλ = 1",
    "q-FFL, q = 1": "λ ≥ 0, ‖λ‖₂ ≤ 1/√3",
    "TERM, α = 1": "λ ≥ 0, 1ᵀλ = 1",
    "PropFair": "λ > 0, Π(3λᵢ) ≥ 1",
    "Rank-weighted": "Gini; dotted: CVaR, ½",
}
LINES = {
    "q-FFL, q = 1": ("lines:\n1ᵀλ ≤", (0.75, 0.85, 0.95)),
    "TERM, α = 1": ("lines:\nA*(λ) =", (0.05, 0.2, 0.4)),
    "PropFair": ("lines:\n1ᵀλ ≥", (1.05, 1.25, 1.7)),
}
"""What the lines of a panel say, and their levels."""
CELLS = 60
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
FILL, EDGE = "#CFE3F1", "#0072B2"


def data(cells: int = CELLS) -> pd.DataFrame:
    """Corners of the polygons, in order, and points on the curved sets. Columns: panel, kind
    ("point", "polygon": its corners in order, or "surface": a direction of the grid), λ_1 to λ_3
    (weight_1, ...), total (1ᵀλ) and conjugate (A*(λ), 0 on a surface except TERM's and PropFair's).
    """
    corners = np.eye(3)
    rows = [_table("FedAvg", "point", np.full((1, 3), 1 / 3)), _table("AFL", "polygon", corners)]
    whole = [(i, j, cells - i - j) for i in range(cells + 1) for j in range(cells + 1 - i)]
    closed = np.array(whole) / cells
    inside = closed[(closed > 0).all(axis=1)]
    norm = np.sqrt((closed**2).sum(axis=1, keepdims=True))  # r = (q+1)/q = 2
    rows.append(_table("q-FFL, q = 1", "surface", closed / norm / np.sqrt(3)))
    rows.append(_table("TERM, α = 1", "surface", closed))
    mean = np.cbrt(inside.prod(axis=1, keepdims=True))
    rows.append(_table("PropFair", "surface", inside / (3 * mean)))
    for panel, objective in (("Rank-weighted", OBJECTIVES["Rank-weighted"]), (CVAR, INNER)):
        assert isinstance(objective, RankWeighted)
        rows.append(_table(panel, "polygon", _permutahedron(objective.rank_weights(3))))
    return pd.concat(rows, ignore_index=True)


def _permutahedron(w: Array) -> Array:
    """The permutations of (w_1, w_2, w_3); from one to the next two neighbouring values swap."""
    order = [(0, 1, 2), (1, 0, 2), (2, 0, 1), (2, 1, 0), (1, 2, 0), (0, 2, 1)]
    return w[np.array(order)]


def _table(panel: str, kind: str, weights: Array) -> pd.DataFrame:
    objective = INNER if panel == CVAR else OBJECTIVES[panel]
    columns = {f"weight_{k + 1}": weights[:, k] for k in range(3)}
    values = {"total": weights.sum(axis=1), "conjugate": objective.conjugate(weights)}
    return pd.DataFrame({"panel": panel, "kind": kind, **columns, **values})


def draw(data: pd.DataFrame) -> Figure:
    """Three rows of two triangles."""
    figure = Figure(figsize=(style.COLUMN, 5.0))
    for k, (axes, panel) in enumerate(zip(figure.subplots(3, 2).flat, OBJECTIVES, strict=True)):
        _frame(axes)
        style.letter(axes, k, f"{panel}\n{WORDS[panel]}")
        rows = pick(data, panel=panel)
        xy = _place(rows)
        kind = names(rows, "kind")[0]
        if kind == "point":
            axes.plot(*xy.T, color=EDGE, marker="o", markersize=6)
        elif kind == "polygon":
            axes.fill(*xy.T, fc=FILL, ec=EDGE, lw=1.3, zorder=2)
        else:
            _surface(axes, panel, rows, xy)
    inner = _place(pick(data, panel=CVAR))
    dotted = {"ec": "#D55E00", "lw": 1.3, "ls": (0, (1.2, 1.2))}
    figure.axes[-1].fill(*inner.T, fill=False, zorder=3, **dotted)
    figure.supxlabel("corners: all weight on client 1, 2 or 3; centre: even weights", fontsize=7)
    return figure


def _surface(axes: Axes, panel: str, rows: pd.DataFrame, xy: Array) -> None:
    """The triangle with level lines of the total, or of A* for TERM."""
    edge = ":" if panel == "PropFair" else "-"  # of an open set
    axes.fill(*CORNERS.T, fc=FILL, ec=EDGE, lw=1.3, ls=edge, zorder=1)
    words, levels = LINES[panel]
    height = floats(rows, "conjugate" if panel.startswith("TERM") else "total")
    mesh = Triangulation(*xy.T)
    axes.tricontour(mesh, height, levels=levels, colors=style.INK, linewidths=0.8, zorder=2)
    axes.text(-0.16, 0.88, words, fontsize=6.5, ha="left", va="top")
    centre = CORNERS.mean(axis=0)
    # each level crosses this ray once
    ray = centre + np.linspace(0.0, 0.98, 400)[:, None] * (CORNERS[2] - centre)
    along = np.asarray(LinearTriInterpolator(mesh, height)(*ray.T))
    for level in levels:
        x, y = ray[int(np.nanargmin(np.abs(along - level)))]
        box = {"fc": FILL, "ec": "none", "pad": 0.4}
        axes.text(x, y, f"{level:g}", fontsize=6, ha="center", va="center", bbox=box)


def _frame(axes: Axes) -> None:
    axes.set_axis_off()
    axes.set(xlim=(-0.18, 1.18), ylim=(-0.13, 0.98), aspect="equal")
    axes.fill(*CORNERS.T, fill=False, ec="#999999", lw=0.8)
    for k, (x, y) in enumerate(CORNERS):
        shift, side = (0.03, "bottom") if k == 2 else (-0.04, "top")
        axes.text(x, y + shift, str(k + 1), ha="center", va=side)


def _place(table: pd.DataFrame) -> Array:
    """Points of the triangle: directions λ / 1ᵀλ."""
    weights = np.stack([floats(table, f"weight_{k}") for k in (1, 2, 3)], axis=1)
    return weights / weights.sum(axis=1, keepdims=True) @ CORNERS
