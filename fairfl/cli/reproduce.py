"""``fairfl reproduce``: every figure and the report on the claims, in one folder with an index
page.
"""

from __future__ import annotations

from pathlib import Path

import typer

from fairfl.cli.errors import one_line
from fairfl.cli.figures import draw
from fairfl.cli.options import Force, Jobs, Out, out_folder


def reproduce(out: Out = Path("out"), jobs: Jobs = 0, force: Force = False) -> None:
    """Draw everything and report the claims, in one folder with an index page. A stopped run goes
    on where it was.
    """
    with one_line():
        from fairfl.claims.runner import recorded
        from fairfl.reports.claims.report import NAMES, write_report
        from fairfl.reports.index_page import write_index

        out_folder(out, *NAMES, "index.html")
        outcomes = draw(None, out, jobs, force)
        write_report(out, recorded())
        typer.echo(f"page: {write_index(out, outcomes)}")
