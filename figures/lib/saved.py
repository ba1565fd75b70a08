"""A drawn table's CSV, SVG and PNG, and their manifest: the same bytes from run to run."""

import io
from collections.abc import Mapping
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fairfl._support.manifest import SUFFIX, write_piece
from fairfl._support.version import __version__

SUFFIXES = (".csv", ".svg", ".png")
DIGITS = "%.12g"
"""Format of numbers in the CSV: more digits than a picture shows, fewer than rounding affects."""
COMPUTED = r"^([=@\t\r]|[+-](?![\d.]*$))"
"""Matches a text that a spreadsheet would read as a formula."""


def names(*pictures: str) -> tuple[str, ...]:
    """The files of pictures, manifests among them."""
    return tuple(f"{name}{end}" for name in pictures for end in (*SUFFIXES, SUFFIX))


def csv_text(table: pd.DataFrame, digits: str = DIGITS) -> str:
    """A table as CSV; texts that a spreadsheet would compute, such as "=1+1", get an apostrophe."""
    harmless = table.replace(COMPUTED, r"'\1", regex=True)
    return harmless.to_csv(index=False, float_format=digits, lineterminator="\n")


def save(
    name: str,
    title: str,
    table: pd.DataFrame,
    figure: Figure,
    folder: Path,
    inputs: Mapping[str, object] | None = None,
) -> list[Path]:
    """Write NAME.csv, NAME.svg and NAME.png into ``folder``, made if missing, and
    NAME.manifest.json with their SHA-256 and ``inputs``, the digests of their sources. Under the
    style sheet.
    """
    software = f"fairfl {__version__}"
    svg, png = io.BytesIO(), io.BytesIO()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.get_label_text():  # skips matplotlib's search for a place beside the ticks
                axis.set_label_coords(0.0, 0.0)
    with matplotlib.rc_context({"figure.constrained_layout.use": False}):
        FigureCanvasAgg(figure)  # its text sizes serve the layout and the PNG
        figure.set_dpi(matplotlib.rcParams["savefig.dpi"])
        engine = figure.get_layout_engine()
        if (
            figure.axes and engine is not None
        ):  # one layout for both files: it takes as long as drawing
            engine.execute(figure)
            figure.set_layout_engine(None)
        png_metadata = {"Title": title, "Software": software}
        figure.savefig(png, format="png", metadata=png_metadata, pil_kwargs={"compress_level": 3})
        svg_metadata = {"Title": title, "Creator": software, "Date": None}
        figure.savefig(svg, format="svg", metadata=svg_metadata)
    files = (csv_text(table), svg.getvalue(), png.getvalue())
    contents = {f"{name}{end}": content for end, content in zip(SUFFIXES, files, strict=True)}
    return write_piece(folder / f"{name}{SUFFIX}", contents, inputs)
