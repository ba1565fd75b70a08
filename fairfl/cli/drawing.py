"""Figures drawn for a user: progress on stderr, several processes, and a clean end when stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from fairfl.cli.processes import as_done, job_count
from fairfl.figures.lib.registry import find
from fairfl.figures.lib.render import Outcome, render_all


def draw(names: Iterable[str] | None, out: Path, jobs: int, force: bool) -> list[Outcome]:
    """Draw figures, telling of each as it is done; jobs = 0 takes one process a core, four at most.

    Raises
    ------
    ValueError : an unknown name.  KeyboardInterrupt : stopped; finished figures stay, nothing half-written does.
    """
    wanted = [entry.name for entry in find(names)]
    count = job_count(jobs, len(wanted))
    console = Console(stderr=True)
    done: dict[str, Outcome] = {}
    last = TextColumn("{task.fields[last]}")
    columns = (TextColumn("figures"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), last)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("figures", total=len(wanted), last="")
        for outcome in _outcomes(wanted, out, count, force):
            done[outcome.name] = outcome
            bar.update(task, advance=1, last=outcome.name)
            typer.echo(_line(outcome))
    return [done[name] for name in wanted]


def _line(outcome: Outcome) -> str:
    if outcome.status == "skipped":
        return f"skipped    {outcome.name}: {' '.join(outcome.reason.split())}"
    return f"{outcome.status:<9}  {outcome.files[-1]}  ({outcome.seconds:.1f} s)"


def _outcomes(names: list[str], out: Path, jobs: int, force: bool) -> Iterator[Outcome]:
    """Outcomes as they come."""
    one = partial(render_all, out_dir=out, force=force)
    for done in as_done(one, [([name],) for name in names], jobs):
        yield from done
