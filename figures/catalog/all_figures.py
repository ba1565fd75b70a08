"""The figures by name: every module of ``figures/catalog/`` that has a ``NAME``; nothing else is
edited.

A figure module holds ``NAME`` (of its files), ``TITLE`` (the paper, the figure and its
message), ``data() -> DataFrame`` (tidy; saved as CSV beside the picture) and ``draw(data) ->
Figure`` (from that table alone; called under the style sheet). A module with several similar
figures holds ``FIGURES``, a tuple of ``FigureEntry``.
"""

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from fairfl._support.registry import Registry
from fairfl.figures.lib.figure_entry import FigureEntry

PARTS = ("NAME", "TITLE", "data", "draw")


def find(names: Iterable[str] | None = None) -> list[FigureEntry]:
    """The figures of these names, each once, or all of them; ValueError lists the known names."""
    figures = registered()
    chosen = list(dict.fromkeys(names or figures))
    unknown = [name for name in chosen if name not in figures]
    if unknown:
        raise ValueError(
            f"figure must be one of {', '.join(figures)}, got {', '.join(map(repr, unknown))}"
        )
    return [figures[name] for name in chosen]


def _entry(module: ModuleType) -> FigureEntry:
    assert module.__file__ is not None
    return FigureEntry(module.NAME, module.TITLE, module.data, module.draw, Path(module.__file__))


registered = Registry("figures", "fairfl.figures.catalog", PARTS, _entry, "FIGURES").parts
"""Every figure by name, sorted; ValueError as ``Registry``."""
