"""Figures drawn for a user: progress on stderr, several processes, and a clean end when stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from fairfl.figures.registry import find
from fairfl.figures.render import Outcome, render_all

MOST_JOBS = 4


def draw(names: Iterable[str] | None, out: Path, jobs: int, force: bool) -> list[Outcome]:
    """Draw figures, telling of each as it is done; jobs = 0 takes one process a core, four at most.

    Raises
    ------
    ValueError : an unknown name.  KeyboardInterrupt : stopped; finished figures stay, nothing half-written does.
    """
    wanted = [entry.name for entry in find(names)]
    count = min(jobs or min(os.cpu_count() or 1, MOST_JOBS), len(wanted))
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
    if jobs <= 1:
        for name in names:
            yield from render_all([name], out, force=force)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        with _deaf():
            tasks = [pool.submit(render_all, [name], out, force=force) for name in names]
        try:
            for task in as_completed(tasks):
                yield from task.result()
        except BaseException:  # Ctrl-C above all: nobody waits for the figures that remain
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes born here ignore Ctrl-C: a terminal sends it to all, and each would print a traceback.

    The parent alone hears it, and ends them. The first submission starts them all; they inherit what it ignores.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
