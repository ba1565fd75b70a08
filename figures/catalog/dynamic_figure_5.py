"""Dynamic participants, figure 5: algorithm 4, q-FedAvg (q = 0.1) merged with algorithms 1 and
2, between and within two groups.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import WITHIN, Row

NAME = "dynamic_figure_5"
TITLE = "Dynamic participants, figure 5: algorithm 4, fairness between and within groups"

SHOWN = (
    "FedAvg",
    "Algorithm 4 on 1",
    "Algorithm 4 on 2",
    "Algorithm 4 on 2, printed",
    "Algorithm 2",
    "q-FedAvg, q = 0.1",
)
ROWS = (Row("MNIST", "MNIST", "two groups, two layers, α = 0.9", SHOWN, WITHIN),)


def data() -> pd.DataFrame:
    """See :func:`dynamic.curves`."""
    return dynamic.curves(ROWS)


def draw(data: pd.DataFrame) -> Figure:
    """See :func:`dynamic.draw`."""
    return dynamic.draw(data)
