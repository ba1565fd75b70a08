"""FedFB figure 8: g(λ) = MD of the rule with multiplier λ, and |g(λ)|, where MD(ERM) = g(0) > ε
(the paper's case 2): the best fair classifier has λ = g⁻¹(ε) < 0.

Figure 5's federation with q = (0.5, 0.5), pooled as in CFL. Lemma 7: the rule accepts η > 1/2 -
λ/(2(1-q)) in group 0 and η > 1/2 + λ/(2q) in group 1, with q = P(a = 1).
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfl.figures.lib import style
from fairfl.solvers.api import solve
from fairfl.solvers.cfl.threshold import pooled_problem
from fairfl.solvers.schemes import CFL
from fairfl.studies.frames import first, floats, pick
from fairfl.theory.populations.fedfb_figures import figure_5

NAME = "fedfb_figure_8"
TITLE = (
    "FedFB figure 8: g(λ) and |g(λ)| where MD(ERM) > ε, on figure 5's federation with q = "
    "(0.5, 0.5)"
)

EPS = 0.2
POINTS = 401


def data(points: int = POINTS) -> pd.DataFrame:
    """One row a multiplier. Columns: point ("curve", "unconstrained" at λ = 0, or "budget" at λ =
    g⁻¹(ε), as CFL(ε) was solved), multiplier λ, mean_difference g(λ), disparity |g(λ)|, eps (the
    budget ε; NaN on the curve).
    """
    fed = figure_5()
    problem = pooled_problem(fed)
    assert problem is not None  # all clients have one η
    reach = float(fed.group_mass.max())  # of both groups
    lam = np.linspace(-reach, reach, points)
    everyone = np.zeros(points, np.int64)
    with np.errstate(divide="ignore"):  # both ends are at u = ±inf
        u = np.arctanh(lam / reach)
    g = problem.mean_difference(problem.thresholds(u, everyone), everyone)
    rows = [
        pd.DataFrame({"point": "curve", "multiplier": lam, "mean_difference": g, "eps": np.nan})
    ]
    for name, eps in (("unconstrained", np.inf), ("budget", EPS)):
        solution = solve(fed, "cfl", eps)
        columns = {"point": [name], "multiplier": solution.multipliers}
        columns |= {"mean_difference": [solution.mean_difference], "eps": [eps]}
        rows.append(pd.DataFrame(columns))
    table = pd.concat(rows, ignore_index=True)
    table.insert(3, "disparity", table["mean_difference"].abs())
    return table


def draw(data: pd.DataFrame) -> Figure:
    """g above |g|, with lines from ε and λ = g⁻¹(ε) to the axes."""
    figure = Figure(figsize=(style.COLUMN, 3.6))
    top, bottom = figure.subplots(2, 1, sharex=True)
    _panel(top, data, "mean_difference", "g(λ)")
    _panel(bottom, data, "disparity", "|g(λ)|")
    top.set_ylabel("MD g(λ) (difference of rates)", fontsize=7)
    bottom.set_ylabel("|g(λ)| (difference of rates)", fontsize=7)
    bottom.set_xlabel("multiplier λ (accuracy per unit of MD)")
    style.letter(top, 0, "g(λ)")
    style.letter(bottom, 1, "|g(λ)|")
    return figure


def _panel(axes: Axes, data: pd.DataFrame, column: str, name: str) -> None:
    curve, free, budget = (
        pick(data, point=point) for point in ("curve", "unconstrained", "budget")
    )
    x, y = floats(curve, "multiplier"), floats(curve, column)
    look = CFL
    axes.plot(x, y, color=look.colour, label=name)
    axes.axhline(0.0, color=style.INK, lw=0.5)
    axes.axvline(0.0, color=style.INK, lw=0.5)
    lam, eps, erm = first(budget, "multiplier"), first(budget, "eps"), first(free, column)
    low = float(y.min()) * 1.08
    axes.set_ylim(low, 1.09)
    left, right = float(x[0]), float(x[-1])
    axes.set_xlim(left, right)
    axes.plot([left, lam, lam], [eps, eps, low], color="#D55E00", ls="--", lw=1.0)
    axes.plot([lam], [eps], color="#D55E00", marker="o")
    axes.plot([0.0], [erm], color="#000000", marker="D", markersize=3.5)
    note = {"color": "#B34700", "bbox": {"fc": "white", "ec": "none", "pad": 0.8}}
    axes.text(left + 0.02, eps - 0.03 * (1.09 - low), f"ε = {eps:g}", ha="left", va="top", **note)
    shown = f"{lam:.3f}".replace("-", "\u2212")
    place = lam + 0.015, low + 0.05 * (1.09 - low)
    axes.text(*place, f"λ = g⁻¹(ε) = {shown}", ha="left", va="bottom", **note)
    axes.text(0.02, erm, f"  g(0) = {erm:.3f}", ha="left", va="top")
