"""FigureEntry: a figure that can be rendered, as its module defines it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import style


@dataclass(frozen=True)
class FigureEntry:
    """A figure that can be rendered.

    Attributes
    ----------
    name : of its files: NAME.png, NAME.svg and NAME.csv.
    title : which figure of which paper it shows.
    data, draw : see ``catalog/all_figures.py``; ``data`` takes no argument that must be given.
    source : the file that defines it.
    given : what it shows in place of the paper's own, empty where it shows that.
    """

    name: str
    title: str
    data: Callable[..., pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]
    source: Path
    given: str = ""

    def drawn(self, **parameters: Any) -> Figure:
        """The figure, with the parameters of its ``data``.

        Raises
        ------
        ValueError : a parameter that it does not have; the message lists those that it has.
        """
        self.check(parameters)
        with style.sheet():
            return self.draw(self.data(**parameters))

    def check(self, parameters: Mapping[str, Any]) -> None:
        """ValueError for parameters that ``data`` does not take."""
        known = inspect.signature(self.data).parameters
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values()):
            return
        if unknown := [name for name in parameters if name not in known]:
            raise ValueError(
                f"parameters of {self.name} must be among {', '.join(known) or 'none'}, got "
                f"{', '.join(unknown)}"
            )
