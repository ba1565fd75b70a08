"""Dynamic participants, figure 3: Clipping FedAvg (algorithm 3) and FedAvg, (a) two groups, (b)
ten.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import Row

NAME = "dynamic_figure_3"
TITLE = "Dynamic participants, figure 3: clipping against FedAvg, two groups and ten"

SHOWN = ("FedAvg", "Algorithm 3")
ROWS = (
    Row("two groups", "MNIST", "two groups, two layers, α = 0.9", SHOWN),
    Row("ten groups", "MNIST", "10 groups, two layers, α = 0.9", SHOWN),
)


def data() -> pd.DataFrame:
    """See :func:`dynamic.curves`."""
    return dynamic.curves(ROWS)


def draw(data: pd.DataFrame) -> Figure:
    """See :func:`dynamic.draw`."""
    return dynamic.draw(data)
