"""Dynamic participants, figure 1: two groups, the second joins in round 10; FedAvg, algorithms
1 and 2. (a) on MNIST, (b) and (c) on Fashion-MNIST and CIFAR-10 where these have been run.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import SIX, Row

NAME = "dynamic_figure_1"
TITLE = (
    "Dynamic participants, figure 1: two groups, group benefit and convergence of FedAvg and "
    "algorithms 1 and 2"
)

ROWS = (Row("MNIST", "MNIST", "two groups, LeNet, α = 0.9", measures=SIX),)
OTHERS = (
    Row("Fashion-MNIST", "Fashion-MNIST", "two groups, LeNet, α = 0.9", measures=SIX),
    Row("CIFAR-10", "CIFAR-10", "two groups, ResNet-18, α = 0.9", measures=SIX),
)


def data() -> pd.DataFrame:
    """See :func:`dynamic.curves`."""
    return dynamic.curves(ROWS, OTHERS)


def draw(data: pd.DataFrame) -> Figure:
    """See :func:`dynamic.draw`."""
    return dynamic.draw(data, 3)
