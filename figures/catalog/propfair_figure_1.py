"""PropFair figure 1, solved: the Nash bargaining solution on a convex set of utilities of two
clients.

(a) The paper's picture, which has no numbers, as a symmetric polytope: the Nash point is the point
with equal utilities of the edge with the largest total. (b) Losses θ² and (θ-1)² + 6/5, utilities M
- loss, M = 11/5: utilitarian, proportional, harmonic and max-min points differ. At the Nash point
u* the line Σ u_i/u*_i = 2 touches the set, which is proportional fairness (definition 2.1), and so
does the curve u_1 u_2 = u*_1 u*_2 (proposition 2.3).
"""

from functools import partial
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from fairfl._support.checks import Array
from fairfl.figures.lib import style
from fairfl.studies.frames import floats, pick
from fairfl.theory.measures.welfare import mean_utility, price_of_fairness

NAME = "propfair_figure_1"
TITLE = (
    "PropFair figure 1: the Nash bargaining solution beside the utilitarian, harmonic and "
    "max-min points, solved"
)

POLYTOPE = ((0.4, 0.4), (0.4, 3.4), (1.5, 3.1), (3.1, 1.5), (3.4, 0.4))
BASELINE = 2.2
OFFSET = 1.2
RULES = {"utilitarian": 0.0, "Nash (proportional)": 1.0, "harmonic": 2.0, "max-min": float("inf")}
NASH = "Nash (proportional)"
LOOKS = {
    "utilitarian": ("#0072B2", "s", 5.0),
    NASH: ("#D55E00", "o", 6.5),
    "harmonic": ("#CC79A7", "D", 4.2),
    "max-min": ("#009E73", "^", 5.5),
}
POINTS = 101
SMALLEST = 1e-6
"""α in place of 0."""


def utilities(theta: ArrayLike) -> Array:
    """(2, ...) M - f(θ) of the two clients of panel (b)."""
    return np.stack(
        [BASELINE - np.square(theta), BASELINE - OFFSET - np.square(np.subtract(theta, 1.0))]
    )


def data() -> pd.DataFrame:
    """One row per point. Columns: panel ("polytope", "losses"); part ("set": corners, in order;
    "face": the ends of the edge with the largest total; or a rule: its point); alpha of the rule
    (NaN else); u1, u2; mean_utility of order alpha; gain, the largest relative first-order gain
    over the set, as certified; price, the share of the largest total that is lost.
    """
    corners = np.array(POLYTOPE)
    edge = utilities(np.linspace(0, 1, POINTS)).T
    floor = [[edge[0, 0], 0.0], *edge, [0.0, edge[-1, 1]], [0.0, 0.0]]
    rows: list[dict[str, str | float]] = []
    for panel, outline in (("polytope", corners), ("losses", np.array(floor))):
        rows += [{"panel": panel, "part": "set", "u1": u[0], "u2": u[1]} for u in outline]
        for rule, alpha in RULES.items():
            rows.append({"panel": panel, "part": rule, **_fair_point(panel, alpha)})
    best = corners[corners.sum(1) >= corners.sum(1).max() - 1e-12]
    rows += [{"panel": "polytope", "part": "face", "u1": u[0], "u2": u[1]} for u in best]
    return pd.DataFrame(
        rows, columns=["panel", "part", "alpha", "u1", "u2", "mean_utility", "gain", "price"]
    )


def _fair_point(panel: str, alpha: float) -> dict[str, float]:
    """The columns of an α-fair point of the boundary; at α = 0 the limit α -> 0."""
    slope = partial(_slope, panel=panel, alpha=alpha)
    is_last = slope(1.0) >= 0  # welfare rises at 0
    t = 1.0 if is_last else float(cast(float, brentq(slope, 0.0, 1.0, xtol=1e-15)))
    u = _boundary(panel, t)[0]
    w = _weights(u, alpha)
    largest, furthest = (_furthest(panel, v) for v in (np.ones(2), w))
    row = {"alpha": alpha, "u1": float(u[0]), "u2": float(u[1])}
    row |= {"mean_utility": float(mean_utility(u, alpha))}
    row |= {"gain": float(2.0 * (furthest @ w / (u @ w) - 1.0))}
    return row | {"price": float(price_of_fairness(u, max(largest.sum(), u.sum())))}


def _boundary(panel: str, t: float) -> tuple[Array, Array]:
    """The utilities at t in [0, 1] on the efficient boundary, and their derivatives."""
    if panel == "losses":
        return utilities(t), np.array([-2.0 * t, 2.0 - 2.0 * t])
    efficient = np.array(POLYTOPE[1:])
    k = min(int(t * (len(efficient) - 1)), len(efficient) - 2)
    step = efficient[k + 1] - efficient[k]
    return efficient[k] + (t * (len(efficient) - 1) - k) * step, step


def _weights(u: Array, alpha: float) -> Array:
    """The derivatives of α-fair welfare, up to a factor."""
    return (u.min() / u) ** max(alpha, SMALLEST)


def _slope(t: float, panel: str, alpha: float) -> float:
    """The derivative of welfare along the boundary, up to a positive factor."""
    u, step = _boundary(panel, t)
    return float(_weights(u, alpha) @ step)


def _furthest(panel: str, weights: Array) -> Array:
    """The point of a set with the largest weighted total."""
    if panel == "losses":
        return utilities(weights[1] / weights.sum())
    return max(np.array(POLYTOPE), key=lambda corner: float(corner @ weights))


def draw(data: pd.DataFrame) -> Figure:
    """Two sets, the rules' points on them, and the tangent line and curve at the Nash point."""
    figure = Figure(figsize=(style.COLUMN, 5.4))
    top, bottom = figure.subplots(2, 1)
    _panel(top, pick(data, panel="polytope"), 4.0)
    _panel(bottom, pick(data, panel="losses"), 2.6)
    style.letter(top, 0, "a polytope, as in the paper")
    style.letter(bottom, 1, "two clients with quadratic losses")
    bottom.set_xlabel("utility u₁ = M − f₁ (units of loss)")
    bottom.set_ylabel("utility u₂ = M − f₂ (units of loss)")
    top.set(xlabel="utility u₁ (no unit)", ylabel="utility u₂ (no unit)")
    named: dict[str, Artist] = {}
    for axes in (bottom, top):
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(named.values(), named, loc="outside lower center", ncols=2, columnspacing=1.2)
    return figure


def _panel(axes: Axes, data: pd.DataFrame, reach: float) -> None:
    outline, face = pick(data, part="set"), pick(data, part="face")
    edge = {"facecolor": "#eef2f5", "edgecolor": "#777777", "lw": 1.0}
    axes.fill(floats(outline, "u1"), floats(outline, "u2"), **edge)
    nash = pick(data, part=NASH)
    (a,), (b,) = floats(nash, "u1"), floats(nash, "u2")
    x = np.linspace(0.02 * reach, reach, 400)
    axes.plot(x, a * b / x, color=LOOKS[NASH][0], lw=1.0, ls=(0, (5, 1.6)), label="u₁u₂ = u₁*u₂*")
    axes.plot(x, b * (2 - x / a), color=style.INK, lw=0.9, ls=(0, (1, 1.4)), label="Σ uᵢ/uᵢ* = 2")
    if len(face):
        thick = {"color": LOOKS["utilitarian"][0], "lw": 3.2, "alpha": 0.55}
        x, y = floats(face, "u1"), floats(face, "u2")
        axes.plot(x, y, **thick, solid_capstyle="round", label="largest total")
    are_separate = _are_separate(data)
    for k, rule in enumerate(RULES):
        colour, marker, size = LOOKS[rule]
        point = pick(data, part=rule)
        # coinciding points are concentric rings
        grown = size if are_separate else size + 3.2 * (len(RULES) - 1 - k)
        inside = colour if are_separate or k == len(RULES) - 1 else "none"
        look = {"color": colour, "ms": grown, "mfc": inside, "mew": 1.2, "ls": "none"}
        x, y = floats(point, "u1"), floats(point, "u2")
        axes.plot(x, y, marker, **look, label=rule, zorder=4 + k)
    axes.set(xlim=(0, reach), ylim=(0, reach * 0.62 if are_separate else reach))
    axes.set_aspect("auto" if are_separate else "equal")


def _are_separate(data: pd.DataFrame) -> bool:
    """Whether the rules' points are so far apart that their marks do not overlap."""
    points = np.array(
        [[floats(pick(data, part=rule), c)[0] for c in ("u1", "u2")] for rule in RULES]
    )
    return bool(np.ptp(points, axis=0).max() > 0.05)
