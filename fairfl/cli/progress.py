"""Progress on stderr: bars on a terminal; elsewhere a line for a stage that takes long."""

from __future__ import annotations

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

LONG = 10.0
"""Seconds of a stage after which it is named where stderr is no terminal."""


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar of ``total`` things; what is yielded is called with the name of each as it is done."""
    last = TextColumn("{task.fields[last]}")
    with _bar(
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), last
    ) as bar:
        task = bar.add_task(what, total=total, last="")
        yield lambda name: bar.update(task, advance=1, last=name)


@contextmanager
def of_rounds(units: int, jobs: int) -> Iterator[Callable[[str, int, int], None]]:
    """A bar of runs; what is yielded is called with a run's name, its round, and its number of
    rounds.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    done: dict[str, float] = {}
    with _bar(*columns) as bar:
        task = bar.add_task("runs", total=units)

        def progress(unit: str, round: int, rounds: int) -> None:
            done[unit] = round / rounds
            where = "" if jobs > 1 else f"  {unit}: round {round} of {rounds}"
            finished = sum(share == 1 for share in done.values())
            bar.update(
                task, completed=sum(done.values()), description=f"run {finished} of {units}{where}"
            )

        yield progress


@contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """What is yielded is called with what is being computed: a line that changes on a terminal,
    elsewhere a line for each stage that takes long.
    """
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("") as status:
            yield status.update
        return
    told: list[Timer] = []

    def tell(stage: str) -> None:
        for timer in told:
            timer.cancel()
        told[:] = [Timer(LONG, typer.echo, (f"fairfl: {stage} ...",), {"err": True})]
        told[0].daemon = True
        told[0].start()

    try:
        yield tell
    finally:
        for timer in told:
            timer.cancel()


def _bar(*columns: ProgressColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
