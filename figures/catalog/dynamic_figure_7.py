"""Dynamic participants, figure 7: (a) norms of layers or of the whole update, (b) β of
algorithm 2.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import Row

NAME = "dynamic_figure_7"
TITLE = "Dynamic participants, figure 7: norms by layer or global, and the β of algorithm 2"

SCENE = "two groups, two layers, α = 0.9"
NORMS = ("Algorithm 1", "Algorithm 1, global norm", "Algorithm 2", "Algorithm 2, global norm")
BETAS = ("FedAvg", *(f"Algorithm 2, β = {beta}" for beta in (0.25, 0.5, 0.75)), "Algorithm 2")
ROWS = (Row("norms", "MNIST", SCENE, NORMS), Row("β", "MNIST", SCENE, BETAS))


def data() -> pd.DataFrame:
    """See :func:`dynamic.curves`."""
    return dynamic.curves(ROWS)


def draw(data: pd.DataFrame) -> Figure:
    """See :func:`dynamic.draw`."""
    return dynamic.draw(data)
