"""Dynamic participants, figure 2: ten groups, one joins every ten rounds; FedAvg, algorithms
1 and 2. (a) on MNIST, (b) and (c) on Fashion-MNIST and CIFAR-10 where these have been run.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import SIX, Row

NAME = "dynamic_figure_2"
TITLE = (
    "Dynamic participants, figure 2: ten groups, group benefit and convergence of FedAvg and "
    "algorithms 1 and 2"
)

ROWS = (Row("MNIST", "MNIST", "10 groups, two layers, α = 0.9", measures=SIX),)
OTHERS = (
    Row("Fashion-MNIST", "Fashion-MNIST", "10 groups, two layers, α = 0.9", measures=SIX),
    Row("CIFAR-10", "CIFAR-10", "10 groups, ResNet-18, α = 0.9", measures=SIX),
)


def data() -> pd.DataFrame:
    """See :func:`dynamic.curves`."""
    return dynamic.curves(ROWS, OTHERS)


def draw(data: pd.DataFrame) -> Figure:
    """See :func:`dynamic.draw`."""
    return dynamic.draw(data, 3)
