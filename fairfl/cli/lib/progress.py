"""Progress on stderr: bars on a terminal; elsewhere a line for a stage that takes long."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

LONG = 5.0
"""Seconds of a stage after which it is named where stderr is no terminal."""
TIMES = (TimeElapsedColumn(), TimeRemainingColumn())
"""So far, and an estimate of what is left."""


@contextmanager
def counting(label: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar of ``total`` things; what is yielded is called with the name of each as it is done."""
    last = TextColumn("{task.fields[last]}", markup=False)
    with _bar(TextColumn(label), BarColumn(), MofNCompleteColumn(), *TIMES, last) as bar:
        task = bar.add_task(label, total=total, last="")
        yield lambda name: bar.update(task, advance=1, last=name)


@contextmanager
def of_rounds(units: int, jobs: int) -> Iterator[Callable[[str, int, int], None]]:
    """A bar of runs; what is yielded is called with a run's name, its round, and of how many."""
    done: dict[str, float] = {}
    with _bar(TextColumn("{task.description}", markup=False), BarColumn(), *TIMES) as bar:
        task = bar.add_task("runs", total=units)

        def progress(unit: str, round: int, rounds: int) -> None:
            done[unit] = round / rounds
            suffix = "" if jobs > 1 else f"  {unit}: round {round} of {rounds}"
            finished = sum(share == 1 for share in done.values())
            bar.update(
                task, completed=sum(done.values()), description=f"run {finished} of {units}{suffix}"
            )

        yield progress


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """What is yielded is called with what is being computed, how many of its parts are done, and of
    how many: a bar a stage on a terminal, elsewhere a line for each part that takes long.
    """
    timer = Timer(0.0, lambda: None)
    with _bar(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), *TIMES
    ) as bar:

        def tell(stage: str, done: int, total: int) -> None:
            nonlocal timer
            timer.cancel()
            if done == 0:  # another bar, with an estimate of its own
                for task in bar.task_ids:
                    bar.remove_task(task)
                bar.add_task(stage, total=total)
            bar.update(bar.task_ids[-1], description=stage, completed=done)
            if bar.disable:
                line = f"fairfl: {stage} ({min(done + 1, total)} of {total}) ..."
                timer = Timer(LONG, typer.echo, (line,), {"err": True})
                timer.daemon = True
                timer.start()

        try:
            yield tell
        finally:
            timer.cancel()


def _bar(*columns: ProgressColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
