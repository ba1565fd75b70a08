"""The style of all figures: style sheet, the three schemes, and no global state of pyplot's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfl.solvers.schemes import LineStyle
from fairfl.theory.aggregation import Objective

SHEET = Path(__file__).with_name("fairfl.mplstyle")
COLUMN = 3.4
"""Width of a single panel, inches: one column of a two-column page."""
PAGE = 7.0
"""Width of several panels, inches: the page."""
INK = "#333333"


Look = dict[str, Any]
"""Arguments of matplotlib by which a line or a mark is drawn."""


@dataclass(frozen=True)
class ObjectiveLook:
    """An instance of a family of objectives and its line; wider ones may be covered by others."""

    objective: Objective
    colour: str
    line: LineStyle
    marker: str
    width: float = 1.3
    size: float = 3.4


def plain(text: str) -> str:
    """A user's label or title with escaped dollars, a pair of which would start a formula."""
    return text.replace("$", r"\$")


@contextmanager
def sheet() -> Iterator[None]:
    """Matplotlib's defaults and the style sheet in place of the user's settings, until the end."""
    with matplotlib.rc_context():
        matplotlib.rc_file(SHEET)
        yield


def panels(
    count: int, columns: int, height: float, margin: float, single: float
) -> tuple[Figure, list[Axes]]:
    """A figure of ``count`` panels, ``columns`` side by side, and a ``margin`` for the legend."""
    rows = -(-count // columns)
    figure = Figure(figsize=(PAGE if columns > 1 else single * COLUMN, height * rows + margin))
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, grid[:count]


def letter(axes: Axes, k: int, title: str) -> None:
    """Title a panel "(a) title", on the left."""
    axes.set_title(f"({chr(ord('a') + k)}) {title}", loc="left")
