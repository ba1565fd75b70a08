"""``fairfl figures``: draw figures, telling of each as it is done."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairfl.cli.lib.errors import FAILED
from fairfl.cli.lib.options import AsJson, Force, Imports, Jobs, Out, completed, option, out_folder

if TYPE_CHECKING:
    from fairfl.figures.render import Outcome


def figures(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Figures; by default all.",
            autocompletion=completed("figures", "figures"),
        ),
    ] = None,
    out: Out = Path("out"),
    jobs: Jobs = 1,
    force: Force = False,
    show: Annotated[bool, option("List the figures, and draw none.", "--list")] = False,
    federation: Annotated[
        Path | None, option("Draw this federation (TOML) in place of the paper's.", "--federation")
    ] = None,
    as_json: AsJson = False,
    imports: Imports = None,
) -> None:
    """Draw figures: PNG, SVG and CSV each. A run that was stopped goes on where it was."""
    from fairfl.figures.catalog.all_figures import find
    from fairfl.reports.terminal import tell_list

    entries = find(names)
    if show and as_json:
        rows = [{"name": entry.name, "title": entry.title} for entry in entries]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    if show:
        tell_list([(entry.name, entry.title) for entry in entries])
        return
    outcomes = draw([entry.name for entry in entries], out, jobs, force, federation)
    if names and any(outcome.status == "skipped" for outcome in outcomes):
        raise typer.Exit(FAILED)


def draw(
    names: Iterable[str] | None, out: Path, jobs: int, force: bool, federation: Path | None = None
) -> list[Outcome]:
    """Draw figures with progress on stderr; jobs = 0 takes one process a core, four at most.

    Raises
    ------
    ValueError : an unknown name.  RuntimeError : no place to write.  KeyboardInterrupt : stopped;
        finished figures stay, nothing half-written does.
    """
    from fairfl._support.checks import existing_file
    from fairfl._support.processes import job_count
    from fairfl.cli.lib.progress import counting
    from fairfl.figures.catalog.all_figures import find
    from fairfl.figures.lib.saved import names as files_of
    from fairfl.figures.render import render_all
    from fairfl.studies.user_runs.federation_file import read_federation

    figure_names = [entry.name for entry in find(names)]
    digest, custom = "", None
    if federation is not None:
        sha = sha256(existing_file(federation).read_bytes()).hexdigest()[:16]
        digest, custom = f"{federation.name} ({sha})", read_federation(federation)
    out_folder(out, *files_of(*figure_names))
    gc.freeze()  # no search for garbage among the modules
    with counting("figures", len(figure_names)) as one_more:
        return render_all(
            figure_names,
            out,
            job_count(jobs, len(figure_names)),
            force=force,
            progress=partial(_tell, one_more),
            federation=custom,
            digest=digest,
        )


def _tell(one_more: Callable[[str], None], outcome: Outcome, done: int, count: int) -> None:
    """Count a figure, and print its line."""
    one_more(outcome.name)
    if outcome.status == "skipped":
        typer.echo(f"skipped    {outcome.name}: {' '.join(outcome.reason.split())}")
    else:
        typer.echo(f"{outcome.status:<9}  {outcome.files[-1]}  ({outcome.seconds:.1f} s)")
