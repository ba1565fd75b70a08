"""q-FFL: whether losses are more uniform for a larger q, on two families of convex losses.

Section 3.2 and the tables read "a larger q imposes more uniformity"; appendix A proves it for q = 0
against q = 1 (lemmas 6 and 7). For larger q it favours the client with the largest loss: where that
can be reduced to the others' ("even"), losses get more uniform; where it hardly can ("uneven"), and
a step towards it makes the best-off client better and the third worse, they do not. Three clients,
losses a_i (θ - c_i)² + h_i; each point is solved, q = inf as AFL.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfl._support.checks import Array
from fairfl.figures.lib import style
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.frames import floats, pick
from fairfl.theory.aggregation import AFL, QFFL
from fairfl.theory.measures import uniformity

NAME = "qffl_q_sweep"
TITLE = (
    "q-FFL: uniformity of the losses against q on two convex families, one where it grows, "
    "one where it does not"
)

FAMILIES = {
    "even": ((2.0, 2.0, 2.0), (0.0, 1.5, 2.0), (1.0, 1.75, 0.0)),
    "uneven": ((2.0, 0.25, 1.5), (1.25, 1.25, 0.25), (0.0, 2.0, 0.75)),
}
"""Parameters a, c and h of the three clients."""
MEASURES = {
    "variance": ("variance", "#0072B2", "-"),
    "angle": ("angle to (1, 1, 1)", "#D55E00", (0, (5, 1.6))),
    "kl_to_uniform": ("log n − entropy", "#009E73", (0, (1.4, 1.2))),
}
CLIENTS = (("#000000", "-"), ("#E69F00", (0, (5, 1.6))), ("#56B4E9", (0, (1.4, 1.2))))
LARGEST = 300.0


def losses(family: str) -> Callable[[Array], tuple[Array, Array]]:
    """θ (1,) to the losses (3,) and their slopes (3, 1)."""
    a, c, h = (np.array(x) for x in FAMILIES[family])
    return lambda theta: (a * (theta - c) ** 2 + h, (2 * a * (theta - c))[:, None])


def data(points: int = 41) -> pd.DataFrame:
    """One row a (family, q). Columns: family; q (evenly from 0 to 1, in log q from there on, inf
    last); theta; f1, f2, f3; variance (squared units of loss), angle (radians), entropy (nats),
    kl_to_uniform = log 3 - entropy; stationarity of the certificate.
    """
    rows = []
    sweep = np.concatenate(
        [np.linspace(0, 1, points // 2), np.geomspace(1, LARGEST, points)[1:], [np.inf]]
    )
    for family in FAMILIES:
        theta = np.array([1.0])
        for q in sweep:
            solution = solve_minimax(
                losses(family), AFL() if np.isinf(q) else QFFL(float(q)), theta, jac=True
            )
            theta, f = solution.theta, solution.losses
            measures = ("variance", "angle", "entropy", "kl_to_uniform")
            columns = {"family": family, "q": q, "theta": theta[0]}
            columns |= {f"f{i + 1}": f[i] for i in range(3)}
            columns |= {name: getattr(uniformity, name)(f) for name in measures}
            rows.append({**columns, "stationarity": solution.certificate.stationarity})
    return pd.DataFrame(rows)


def draw(data: pd.DataFrame) -> Figure:
    """The losses; below them each measure in units of its value at q = 0: lower is more uniform."""
    figure = Figure(figsize=(style.COLUMN, 3.9))
    axes = figure.subplots(2, 2, sharex=True, sharey="row")
    for k, family in enumerate(FAMILIES):
        table = pick(data, family=family)
        top, bottom = axes[0, k], axes[1, k]
        q = floats(table, "q")  # the last, inf, is off the axis
        for i, (colour, line) in enumerate(CLIENTS):
            top.plot(q, floats(table, f"f{i + 1}"), color=colour, ls=line, label=f"client {i + 1}")
        for column, (label, colour, line) in MEASURES.items():
            y = floats(table, column)
            bottom.plot(q, y / y[0], color=colour, ls=line, label=label)
        bottom.axhline(1.0, color=style.INK, lw=0.5)
        for panel in (top, bottom):
            panel.axvline(1.0, color=style.INK, lw=0.5, ls=":")
            _scale(panel)
        bottom.set_xlabel("q (no unit)")
        style.letter(
            top, k, {"even": "larger q: more even", "uneven": "past q ≈ 2: less even"}[family]
        )
    axes[0, 0].set_ylabel("loss fᵢ (units of loss)")
    axes[1, 0].set_ylabel("measure ÷ its value at q = 0")
    axes[0, 0].set_ylim(bottom=0)
    axes[1, 0].set_ylim(bottom=0)
    for panel, loc in zip(axes[:, 0], ("lower center", "upper right"), strict=True):
        panel.legend(fontsize=6.5, loc=loc, handlelength=2.0)
    return figure


def _scale(axes: Axes) -> None:
    axes.set_xscale("symlog", linthresh=1.0, linscale=0.6)
    axes.set_xticks([0, 1, 10, 100], labels=["0", "1", "10", "100"])
    axes.set_xlim(0, LARGEST)
    axes.minorticks_off()
