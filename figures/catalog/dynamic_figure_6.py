"""Dynamic participants, figure 6: how much of its own classes a group has, from groups that are
alike (α = 0.5) to ones that share no class (1).
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import Row

NAME = "dynamic_figure_6"
TITLE = "Dynamic participants, figure 6: how far the groups' classes differ (α)"

ROWS = tuple(
    Row(f"α = {alpha:g}", "MNIST", f"two groups, two layers, α = {alpha:g}")
    for alpha in (0.5, 0.7, 0.9, 1.0)
)


def data() -> pd.DataFrame:
    """See :func:`dynamic.curves`."""
    return dynamic.curves(ROWS)


def draw(data: pd.DataFrame) -> Figure:
    """See :func:`dynamic.draw`."""
    return dynamic.draw(data)
