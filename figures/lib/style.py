"""The style of all figures: style sheet, the three schemes, and figures without pyplot's global
state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes

from fairfl.solvers.schemes import LABELS, NAMES

SHEET = Path(__file__).with_name("fairfl.mplstyle")
COLUMN = 3.4
"""Width of a single panel, inches: one column of a two-column page."""
PAGE = 7.0
"""Width of several panels, inches: the page."""
INK = "#333333"

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Look:
    """How one scheme is drawn, wherever it is drawn: told apart by colour, line and marker.

    Widths and sizes fall from the best scheme to the worst, drawn in that order: a curve on another
    leaves it visible.
    """

    label: str
    colour: str
    line: Any
    width: float
    marker: str
    size: float


SCHEMES = {
    "cfl": Look(LABELS["cfl"], "#0072B2", "-", 2.4, "o", 6.5),
    "lft_fedavg": Look(LABELS["lft_fedavg"], "#009E73", (0, (5, 1.6)), 1.5, "s", 4.5),
    "lft_ensemble": Look(LABELS["lft_ensemble"], "#D55E00", (0, (4, 1.4, 1, 1.4)), 1.1, "^", 4.5),
}
"""The three schemes, best first; blue, bluish green and vermilion of Okabe and Ito."""
LOOKS = SCHEMES | {
    "client_aware": Look(NAMES["client_aware"], "#CC79A7", (0, (2, 1)), 1.3, "D", 4.0)
}
"""Rules that are told the client as well; reddish purple."""
REPORTED = LOOKS | {
    "lft_fedavg_common": Look(NAMES["lft_fedavg_common"], "#009E73", "-", 1.3, "P", 4.5),
    "lft_ensemble_common": Look(NAMES["lft_ensemble_common"], "#D55E00", "-", 0.9, "v", 4.5),
}
"""And one budget for all clients: the scheme's colour, solid."""


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


def styled(function: Callable[P, T]) -> Callable[P, T]:
    """Run ``function`` under the style sheet: matplotlib reads settings when an artist is made."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> T:
        with sheet():
            return function(*args, **kwargs)

    return inside


def letter(axes: Axes, k: int, title: str) -> None:
    """Title a panel "(a) title", on the left."""
    axes.set_title(f"({chr(ord('a') + k)}) {title}", loc="left")
