"""Equal opportunity on the federations of FedFB's figure 5: the frontiers of the three schemes,
where true-positive rates P(ŷ = 1 | a, y = 1) are compared in place of acceptance rates.

Not in the paper. A client's budget limits the difference of its own true-positive rates.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.catalog import fedfb_figure_5
from fairfl.figures.lib import frontier_panels

NAME = "equal_opportunity_5"
TITLE = "Equal opportunity: the three schemes' trade-offs on the two clients of FedFB figure 5"

POINTS = 40
AXES = frontier_panels.Axes(disparity="difference of true-positive rates")


def data(points: int = POINTS) -> pd.DataFrame:
    """See :func:`frontier_panels.table`."""
    notion = "true_positive_rate_parity"
    return frontier_panels.table(fedfb_figure_5.federations(), points, notion)


def draw(data: pd.DataFrame) -> Figure:
    """Four panels."""
    return frontier_panels.draw(data, columns=2, height=4.6, axes=AXES)
