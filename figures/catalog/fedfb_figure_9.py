"""FedFB figure 9: the frontiers of the three schemes on three clients, by the shares q_i = P(a = 1
| i).

x | a, i ~ N(μ, 1) with means 3 and 5 (client 0), 1 and -1 (client 1), 1 and 2 (client 2) for a = 0
and 1, logistic η, equal weights. The curves are exact; the paper's come from samples on a grid of
multipliers.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import frontier_panels
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import MEANS_9, SHARES_9, figure_9

NAME = "fedfb_figure_9"
TITLE = (
    "FedFB figure 9: accuracy-fairness trade-offs of CFL, LFT+FedAvg and LFT+Ensemble, three "
    "clients"
)

POINTS = 40


def federations() -> dict[str, Federation]:
    """The four panels' federations by title."""
    return {f"q = ({', '.join(f'{v:g}' for v in q)})": figure_9(q) for q in SHARES_9}


def data(
    points: int = POINTS, *, federation: Federation | None = None, **laws: Any
) -> pd.DataFrame:
    """See :func:`frontier_panels.table`; one panel for a federation of one's own, or for normal
    laws with another ``mean``, ``sd``, ``q`` or ``weight``.
    """
    printed = {"mean": MEANS_9, "q": SHARES_9[0]}
    own = frontier_panels.own(federation, laws, printed)
    return frontier_panels.table(own or federations(), points)


def draw(data: pd.DataFrame) -> Figure:
    """Four panels, or one."""
    return frontier_panels.draw_panels(data)
