"""The command line ``fairfl-site``: what a site runs, on numpy and typer alone."""

import typer

from fairfl.cli.apply import apply
from fairfl.cli.lib.errors import SETTINGS, Command
from fairfl.cli.lib.output import plain_output
from fairfl.cli.summarize import summarize

app = typer.Typer(help="Count a site's people, and decide on them by a rule.", **SETTINGS)
app.command(cls=Command)(summarize)
app.command(cls=Command)(apply)
app.command("judge", cls=Command, help="Count predictions, the column of --score.")(summarize)


def main() -> None:
    """Entry point of the console script."""
    plain_output()
    app()
