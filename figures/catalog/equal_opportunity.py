"""Equal opportunity on the federations of FedFB's figures 5 and 9: the frontiers of the three
schemes, where true-positive rates P(ŷ = 1 | a, y = 1) are compared in place of acceptance rates.

Not in the paper. A client's budget limits the difference of its own true-positive rates.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.catalog import fedfb_figure_5, fedfb_figure_9
from fairfl.figures.lib import frontier_panels
from fairfl.theory.populations.federation import Federation

NAME = "equal_opportunity"
TITLE = "Equal opportunity: the three schemes' trade-offs on the clients of FedFB figures 5 and 9"

POINTS = 40
AXES = frontier_panels.Axes(disparity="difference of true-positive rates")


def data(points: int = POINTS, *, federation: Federation | None = None) -> pd.DataFrame:
    """See :func:`frontier_panels.table`; one panel for a federation of one's own."""
    federations = fedfb_figure_5.federations() | fedfb_figure_9.federations()
    own = frontier_panels.own(federation, {}, {})
    return frontier_panels.table(own or federations, points, "true_positive_rate_parity")


def draw(data: pd.DataFrame) -> Figure:
    """Four panels of two clients above four of three, or one."""
    return frontier_panels.draw_panels(data, axes=AXES)
