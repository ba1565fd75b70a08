"""Dynamic participants, figure 4: q-FedAvg with two groups, from which the paper selects
q = 0.1.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import WITHIN, Row

NAME = "dynamic_figure_4"
TITLE = "Dynamic participants, figure 4: q-FedAvg with several q, two groups"

SHOWN = ("FedAvg", "q-FedAvg, q = 0.01", "q-FedAvg, q = 0.1", "q-FedAvg, q = 1")
ROWS = (Row("MNIST", "MNIST", "two groups, two layers, α = 0.9", SHOWN, WITHIN),)


def data() -> pd.DataFrame:
    """See :func:`dynamic.curves`."""
    return dynamic.curves(ROWS)


def draw(data: pd.DataFrame) -> Figure:
    """See :func:`dynamic.draw`."""
    return dynamic.draw(data)
