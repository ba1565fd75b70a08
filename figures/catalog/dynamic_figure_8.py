"""Dynamic participants, figure 8: figure 1 with (a) a linear model and (b) a network with two
layers.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import dynamic
from fairfl.figures.lib.dynamic import Row

NAME = "dynamic_figure_8"
TITLE = "Dynamic participants, figure 8: other models, linear and with two layers"

ROWS = tuple(
    Row(model, "MNIST", f"two groups, {model}, α = 0.9") for model in ("linear", "two layers")
)


def data() -> pd.DataFrame:
    """See :func:`dynamic.curves`."""
    return dynamic.curves(ROWS)


def draw(data: pd.DataFrame) -> Figure:
    """See :func:`dynamic.draw`."""
    return dynamic.draw(data)
