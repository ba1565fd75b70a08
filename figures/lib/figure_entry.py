"""FigureEntry: a figure that can be rendered, as its module defines it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fairfl._support.checks import instance
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
    reads : the files that ``data`` reads beside those of ``fairfl.sims.data``.
    """

    name: str
    title: str
    data: Callable[..., pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]
    source: Path
    given: str = ""
    reads: Callable[[], Iterable[Path]] = tuple

    def drawn(self, **parameters: Any) -> Figure:
        """The figure, with the parameters of its ``data``.

        Raises
        ------
        ValueError : a parameter that it does not have; the message lists those that it has.
        """
        self.check(parameters)
        with style.sheet():
            return self.picture(self.table(**parameters))

    def table(self, **parameters: Any) -> pd.DataFrame:
        """What ``data`` gives; ValueError for what is no table."""
        return instance(f"data of {self.name}", self.data(**parameters), pd.DataFrame)

    def picture(self, table: pd.DataFrame) -> Figure:
        """What ``draw`` makes of it; ValueError for what is no figure."""
        return instance(f"draw of {self.name}", self.draw(table), Figure)

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
