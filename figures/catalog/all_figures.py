"""The figures by name: every module of ``figures/catalog/`` that has a ``NAME``; nothing else is
edited.

A figure module holds ``NAME`` (of its files), ``TITLE`` (which figure of which paper it shows, and
what it says), ``data() -> DataFrame`` (tidy; kept as CSV beside the picture) and ``draw(data) ->
Figure`` (all of it from that table; called under the style sheet). One with several of one shape
holds ``FIGURES``, a tuple of ``FigureEntry``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import fairfl.figures.catalog
from fairfl._support.discovery import discovered
from fairfl.figures.lib.figure_entry import FigureEntry

PARTS = ("NAME", "TITLE", "data", "draw")


def registered() -> dict[str, FigureEntry]:
    """Every figure by name, sorted.

    Raises
    ------
    ValueError : a figure module without one of its parts, or a name taken twice.
    """
    return discovered(fairfl.figures.catalog, "figure", PARTS, _entry, "FIGURES")


def find(names: Iterable[str] | None = None) -> list[FigureEntry]:
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


def _entry(module: ModuleType) -> FigureEntry:
    assert module.__file__ is not None
    return FigureEntry(module.NAME, module.TITLE, module.data, module.draw, Path(module.__file__))
