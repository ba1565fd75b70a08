"""A drawn table's three files, CSV, SVG and PNG: whole or not at all, the same bytes from run to run."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from fairfl._version import __version__
from fairfl.theory.whole_file import write_whole

SUFFIXES = (".csv", ".svg", ".png")
"""Written in this order: the picture last, since what it is marked with vouches for all three."""
DIGITS = "%.12g"
"""Of the CSV: more than a picture shows, fewer than rounding can change."""


def save(
    name: str, title: str, table: pd.DataFrame, figure: Figure, folder: Path, marks: dict[str, str] | None = None
) -> list[Path]:
    """Write NAME.csv, NAME.svg and NAME.png into ``folder``, which is there; the files. Under the style sheet.

    ``marks`` are texts that the PNG carries besides its title.
    """
    software = f"fairfl {__version__}"
    svg, png = io.BytesIO(), io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Title": title, "Creator": software, "Date": None})
    figure.savefig(png, format="png", metadata={"Title": title, "Software": software, **(marks or {})})
    text = table.to_csv(index=False, float_format=DIGITS, lineterminator="\n")
    files = [folder / f"{name}{suffix}" for suffix in SUFFIXES]
    for file, content in zip(files, (text, svg.getvalue(), png.getvalue()), strict=True):
        write_whole(file, content)
    return files
