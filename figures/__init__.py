"""Figures: a module with NAME, TITLE, data() and draw() is one; a new file is a new figure.

``fairfl.figures.NAME(...)`` returns one, with the user's parameters, as a figure of matplotlib:

>>> import fairfl as ff
>>> figure = ff.figures.fedfb_figure_5(points=3, mean=[[0, 1], [2, 0]], sd=1.0, q=[0.5, 0.3])
>>> len(figure.axes)
1
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def __getattr__(name: str) -> "Callable[..., Figure]":
    from fairfl.figures.catalog.all_figures import registered

    figures = {} if name.startswith("_") else registered()
    if name not in figures:
        raise AttributeError(
            f"module {__name__!r} has no figure {name!r}; it has {', '.join(figures)}"
        )
    return figures[name].figure


def __dir__() -> list[str]:
    from fairfl.figures.catalog.all_figures import registered

    return sorted(registered())
