"""Units of an experiment or a study, run in a folder that a stopped run is taken up from, with progress on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairfl.cli.out_folder import out_folder

if TYPE_CHECKING:
    import pandas as pd

    from fairfl.studies.execute import Progress
    from fairfl.studies.experiment import Unit

RUNS = "runs"
"""The folder below --out where the runs are; experiments share them."""


def measured(units: Sequence[Unit], out: Path, resume: bool, jobs: int) -> pd.DataFrame:
    """What the units measured.

    Raises
    ------
    ValueError : a run that is there already, without ``resume``.  RuntimeError : a folder that cannot be made or
        written, before any run; an update that is not finite.
    """
    from fairfl.cli.processes import as_done, job_count
    from fairfl.sims.engine import NonFiniteUpdate
    from fairfl.studies.execute import run_units

    there = [unit.name for unit in units if (out / RUNS / unit.name).exists()]
    if there and not resume:
        raise ValueError(
            f"--out must hold none of the runs, or --resume be given; {out / RUNS} holds {there[0]}"
            + (f" and {len(there) - 1} more" if len(there) > 1 else "")
        )
    out_folder(out)
    count = job_count(jobs, len(units))
    try:
        with _bar(len(units), count) as progress:
            return run_units(units, out / RUNS, resume, progress, count, as_done)
    except NonFiniteUpdate as error:  # what was asked for cannot be done: no fault of ours
        raise RuntimeError(str(error)) from None


@contextmanager
def _bar(units: int, jobs: int) -> Iterator[Progress]:
    """Progress on stderr, where it is a terminal: units done, and the rounds of the one that runs."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    done: dict[str, float] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("runs", total=units)

        def progress(unit: str, round: int, rounds: int) -> None:
            done[unit] = round / rounds
            where = "" if jobs > 1 else f"  {unit}: round {round} of {rounds}"
            finished = sum(share == 1 for share in done.values())
            bar.update(task, completed=sum(done.values()), description=f"run {finished} of {units}{where}")

        yield progress
