"""The figures by name: every module of ``figures/catalog/`` that has a ``NAME``; nothing else is
edited.

A figure module holds ``NAME`` (of its files), ``TITLE`` (which figure of which paper it shows, and
what it says), ``data() -> DataFrame`` (tidy; kept as CSV beside the picture) and ``draw(data) ->
Figure`` (all of it from that table). One with several of one shape holds ``FIGURES``, a tuple of
``Entry``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import fairfl.figures.catalog
from fairfl._support.checks import instance
from fairfl._support.discovery import discovered

PARTS = ("NAME", "TITLE", "data", "draw")


@dataclass(frozen=True)
class Entry:
    """A figure that can be rendered.

    Attributes
    ----------
    name : of its files: NAME.png, NAME.svg and NAME.csv.
    title : which figure of which paper it shows.
    data, draw : see the module's docstring; ``data`` takes no argument that must be given.
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
        from fairfl.figures.lib import style

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


def registered() -> dict[str, Entry]:
    """Every figure by name, sorted.

    Raises
    ------
    ValueError : a figure module without one of its parts, or a name taken twice.
    """
    return discovered(fairfl.figures.catalog, "figure", PARTS, _entry, "FIGURES")


def find(names: Iterable[str] | None = None) -> list[Entry]:
    """The figures of these names, each once, in the order given; all of them where ``names`` is
    None or empty.

    Raises
    ------
    ValueError : an unknown name; the message lists the known ones.
    """
    known = registered()
    wanted = list(dict.fromkeys(names or known))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(
            f"figure must be one of {', '.join(known)}, got {', '.join(map(repr, unknown))}"
        )
    return [known[name] for name in wanted]


def _entry(module: ModuleType) -> Entry:
    assert module.__file__ is not None
    return Entry(module.NAME, module.TITLE, module.data, module.draw, Path(module.__file__))
