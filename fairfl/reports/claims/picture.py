"""A claim's picture as inline SVG."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from fairfl.claims.picture import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHADE = "#BFE3D6"
LINES = ":", "--"
"""Over maps: of the first label, of the second."""


def svg(picture: Picture, name: str) -> str:
    """Draw a picture; ``name`` keeps the ids of several on one page apart. The same bytes each
    time.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from fairfl.figures.lib.style import sheet

    with sheet(), mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure = Figure()
        draw = _curves if picture.curves else _regions if picture.regions else _maps
        draw(picture, figure)
        stream = io.StringIO()
        figure.savefig(
            stream, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}
        )
    drawn = stream.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    return re.sub(r"\s*<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)


def _curves(picture: Picture, figure: Figure) -> None:
    figure.set_size_inches(3.4, 2.4)
    axes = figure.subplots()
    for curve in picture.curves:
        axes.plot(curve.x, curve.y, "o" if curve.points else "-", label=curve.label)
    axes.set(xlabel=picture.x, ylabel=picture.y)
    axes.legend()


def _regions(picture: Picture, figure: Figure) -> None:
    figure.set_size_inches(3.4, 0.7 + 0.35 * len(picture.regions))
    axes, rows = figure.subplots(), picture.regions[::-1]
    for row, region in enumerate(rows):
        axes.broken_barh([(low, high - low) for low, high in region.intervals], (row - 0.3, 0.6))
    axes.set_yticks(range(len(rows)), [region.label for region in rows])
    axes.set_xlabel(picture.x)


def _maps(picture: Picture, figure: Figure) -> None:
    from matplotlib.lines import Line2D

    figure.set_size_inches(0.4 + 1.9 * len(picture.maps), 2.4)
    labels = list(dict.fromkeys(line.label for each in picture.maps for line in each.lines))
    every = figure.subplots(1, len(picture.maps), squeeze=False)[0]
    for axes, each in zip(every, picture.maps, strict=True):
        axes.contourf(each.x, each.y, each.values, levels=[0.0, 1e300], colors=[SHADE])
        axes.contour(each.x, each.y, each.values, levels=[0.0], colors="black", linewidths=0.8)
        for line in each.lines:
            axes.plot(line.x, line.y, LINES[labels.index(line.label)], color="black", lw=1)
        axes.set(xlim=each.x[:: len(each.x) - 1], ylim=each.y[:: len(each.y) - 1])
        axes.set_title(each.label)
        axes.set_xlabel(picture.x)
    every[0].set_ylabel(picture.y)
    if labels:
        handles = [Line2D([], [], ls=style, color="black", lw=1) for style in LINES[: len(labels)]]
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
