"""The command line ``fairfl``: a file for each command. Slow imports wait until a command runs."""

import os
import sys
import warnings
from typing import Annotated

import typer

from fairfl._support.cache_folder import cache_folder
from fairfl._support.version import __version__
from fairfl.cli import (
    apply,
    arena,
    bench,
    claims,
    crosscheck,
    explore,
    figures,
    frontier,
    judge,
    reproduce,
    simulate,
    study,
    summarize,
    sweep,
)
from fairfl.cli.lib.errors import SETTINGS, Command
from fairfl.cli.lib.output import plain_output

app = typer.Typer(
    name="fairfl",
    help="What a federation loses in accuracy and fairness by the way it trains: exact trade-offs.",
    **SETTINGS,
)
for command in (
    simulate.simulate,
    crosscheck.crosscheck,
    arena.arena,
    figures.figures,
    reproduce.reproduce,
    frontier.frontier,
    summarize.summarize,
    apply.apply,
    judge.judge,
    study.study,
    explore.explore,
    bench.bench,
):
    app.command(cls=Command)(command)
app.add_typer(claims.app, name="claims")
app.add_typer(sweep.app, name="sweep")


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"fairfl {__version__}")
        raise typer.Exit


def main() -> None:
    """Entry point of the console script."""
    if not sys.warnoptions:  # a user asks with -W; else what matters is in the output
        warnings.simplefilter("ignore")
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # the processes of --jobs
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache_folder() / "hypothesis"))
    plain_output()
    app()
