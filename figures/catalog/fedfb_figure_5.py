"""FedFB figure 5: the frontiers of the three schemes on two clients, by the shares q_i = P(a = 1 |
i).

x | a, i ~ N(μ, 1) with means 3 and 5 (client 0) and 1 and -1 (client 1) for a = 0 and 1, logistic
η, equal weights. The curves are exact; the paper's come from samples on a grid of multipliers.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import frontier_panels
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import MEANS_5, SHARES_5, figure_5

NAME = "fedfb_figure_5"
TITLE = (
    "FedFB figure 5: accuracy-fairness trade-offs of CFL, LFT+FedAvg and LFT+Ensemble, two clients"
)

POINTS = 40


def federations() -> dict[str, Federation]:
    """The four panels' federations by title."""
    return {f"q = ({q[0]:g}, {q[1]:g})": figure_5(q) for q in SHARES_5}


def data(
    points: int = POINTS, *, federation: Federation | None = None, **laws: Any
) -> pd.DataFrame:
    """See :func:`frontier_panels.table`; one panel for a federation of one's own, or for normal
    laws with another ``mean``, ``sd``, ``q`` or ``weight``.
    """
    printed = {"mean": MEANS_5, "q": SHARES_5[0]}
    own = frontier_panels.own(federation, laws, printed)
    return frontier_panels.table(own or federations(), points)


def draw(data: pd.DataFrame) -> Figure:
    """Four panels, or one."""
    return frontier_panels.draw_panels(data)
