"""The style of all figures: style sheet, the three schemes, and figures without pyplot's global
state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SHEET = Path(__file__).with_name("fairfl.mplstyle")
COLUMN = 3.4
"""Width of a single panel, inches: one column of a two-column page."""
PAGE = 7.0
"""Width of several panels, inches: the page."""
INK = "#333333"


@dataclass(frozen=True)
class ObjectiveLook:
    """An instance of a family of objectives and its line; what others may cover is wider and
    larger.
    """

    objective: Any
    colour: str
    line: Any
    marker: str
    width: float = 1.3
    size: float = 3.4


def plain(text: str) -> str:
    """A user's words, a label or a title, to be drawn as they are: a pair of dollars would make a
    formula of them.
    """
    return text.replace("$", r"\$")


@contextmanager
def sheet() -> Iterator[None]:
    """Matplotlib's defaults and the style sheet, whatever the user's own settings; undone on
    leaving.
    """
    with matplotlib.rc_context():
        matplotlib.rc_file(SHEET)
        yield


def panels(
    count: int, wide: int, high: float, more: float, alone: float
) -> tuple[Figure, list[Axes]]:
    """A figure of ``count`` panels, ``wide`` side by side, each ``high`` inches, and ``more`` for
    the rest; without panels side by side it is ``alone`` columns wide.
    """
    rows = -(-count // wide)
    figure = Figure(figsize=(PAGE if wide > 1 else alone * COLUMN, high * rows + more))
    grid = figure.subplots(rows, wide, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, grid[:count]


def letter(axes: Axes, k: int, title: str) -> None:
    """Title a panel "(a) title", on the left."""
    axes.set_title(f"({chr(ord('a') + k)}) {title}", loc="left")
