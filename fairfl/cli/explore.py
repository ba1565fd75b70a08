"""``fairfl explore``: a page on which sliders change a federation, for a browser."""

from pathlib import Path
from typing import Annotated

import typer

from fairfl.cli.lib.options import option, out_file, place


def explore(
    out: Annotated[Path, option("File to write.", "--out", **place("FILE.html"))] = Path(
        "explore.html"
    ),
) -> None:
    """Write a page with sliders that draws the three schemes' frontiers; it needs no network."""
    from fairfl._support.whole_file import write_whole
    from fairfl.explorer.page import page

    out_file(out)
    write_whole(out, page())
    typer.echo(f"written: {out}")
