"""A claim's picture as inline SVG."""

from __future__ import annotations

import io
import re

from fairfl.claims.picture import Picture


def svg(picture: Picture, name: str) -> str:
    """Draw a picture; ``name`` keeps the ids of several on one page apart. The same bytes each
    time.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from fairfl.figures.lib.style import sheet

    with sheet(), mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure = Figure(figsize=(3.4, 2.4 if picture.curves else 0.7 + 0.35 * len(picture.regions)))
        axes = figure.subplots()
        if picture.curves:
            for curve in picture.curves:
                axes.plot(curve.x, curve.y, "o" if curve.points else "-", label=curve.label)
            axes.set_ylabel(picture.y)
            axes.legend()
        else:
            for row, region in enumerate(reversed(picture.regions)):
                axes.broken_barh(
                    [(low, high - low) for low, high in region.intervals], (row - 0.3, 0.6)
                )
            axes.set_yticks(
                range(len(picture.regions)), [r.label for r in reversed(picture.regions)]
            )
        axes.set_xlabel(picture.x)
        stream = io.StringIO()
        figure.savefig(
            stream, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}
        )
    drawn = stream.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    return re.sub(r"\s*<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
