"""FigureEntry: a figure that can be rendered, as defined by its module."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from fairfl._support.checks import instance
from fairfl.figures.lib import style


@dataclass(frozen=True)
class FigureEntry:
    """A figure that can be rendered: the stem of its files, and its title; ``data`` and ``draw``,
    see ``catalog/all_figures.py``; the source file that defines it; the digest of a user's
    federation that it shows; the files that ``data`` ``reads`` beside those of
    ``fairfl.sims.data``.
    """

    name: str
    title: str
    data: Callable[..., pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]
    source: Path
    digest: str = ""
    reads: Callable[[], Iterable[Path]] = tuple

    def figure(self, **parameters: object) -> Figure:
        """The figure, with parameters of its ``data``; ValueError for an unknown one."""
        self.check(parameters)
        with style.sheet():
            return self.picture(self.table(**parameters))

    def table(self, **parameters: object) -> pd.DataFrame:
        """The result of ``data``; ValueError if it is no table."""
        return instance(f"data of {self.name}", self.data(**parameters), pd.DataFrame)

    def picture(self, table: pd.DataFrame) -> Figure:
        """The result of ``draw``; ValueError if it is no figure."""
        return instance(f"draw of {self.name}", self.draw(table), Figure)

    def check(self, parameters: Mapping[str, object]) -> None:
        """ValueError for parameters that ``data`` does not take."""
        accepted = inspect.signature(self.data).parameters
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in accepted.values()):
            return
        if unknown := [name for name in parameters if name not in accepted]:
            raise ValueError(
                f"parameters of {self.name} must be among {', '.join(accepted) or 'none'}, got "
                f"{', '.join(unknown)}"
            )
