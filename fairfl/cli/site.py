"""The command line ``fairfl-site``: what a site runs, on numpy and typer alone."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl.cli.apply import apply
from fairfl.cli.errors import Command, Commands
from fairfl.cli.options import FORM, option, place, with_form
from fairfl.cli.output import plain_output
from fairfl.cli.summarize import summarize

app = typer.Typer(
    name="fairfl-site",
    cls=Commands,
    help="Counts that leave a site in place of rows, and decisions by a rule.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@with_form
def judge(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="People as .csv or .parquet.")],
    prediction: Annotated[str, option("Column of decisions, 0 and 1.")],
    label: Annotated[str, option("Column of two values, y.")],
    group: Annotated[str, option("Column of the protected groups, a.")],
    site: Annotated[str, option("The site's name.")],
    *,
    form: dict[str, Any],
    out: Annotated[Path, option("File to write.", "--out", **place("FILE"))] = Path("judged.json"),
) -> None:
    """Count people by group, label and decision, for ``fairfl judge``; chances count as 1 from 1/2
    on.
    """
    columns: Any = {"label": label, "group": group, "site": site, **dict.fromkeys(FORM), **form}
    summarize(file=file, score=[prediction], edges=["0,0.5,1"], **columns, out=out)


for command in (summarize, apply, judge):
    app.command(cls=Command)(command)


def main() -> None:
    """Entry point of the console script."""
    plain_output()
    app()
