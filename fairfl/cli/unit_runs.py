"""Experiments and studies: listed, and their units run, in a folder from which a stopped run goes
on, with progress on stderr.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fairfl._support.extras import MissingExtra, extras_named
from fairfl.cli.options import listed, out_folder

if TYPE_CHECKING:
    import pandas as pd

    from fairfl.studies.experiment import Runs, Unit

RUNS = "runs"
"""The folder below --out where the runs are; experiments share them."""


def measured(
    units: Sequence[Unit], out: Path, resume: bool, jobs: int, name: str, written: Iterable[str]
) -> pd.DataFrame:
    """What the units measured; ``written`` will be made into the folder ``name`` of ``out``.

    Raises
    ------
    ValueError : a run that is there already, without ``resume``.  RuntimeError : a folder or file
        that cannot be made or written, before any run; an update that is not finite.
    """
    from fairfl._support.processes import as_done, job_count
    from fairfl.cli.progress import of_rounds
    from fairfl.sims.engine import NonFiniteUpdate
    from fairfl.studies.execute import run_units

    taken = [unit.name for unit in units if (out / RUNS / unit.name).exists()]
    if taken and not resume:
        raise ValueError(
            f"--out must hold none of the runs, or --resume be given; {out / RUNS} holds {taken[0]}"
            + (f" and {len(taken) - 1} more" if len(taken) > 1 else "")
        )
    out_folder(out / RUNS)
    out_folder(out / name, *written)
    count = job_count(jobs, len(units))
    gc.freeze()  # no search for garbage among the modules
    try:
        with of_rounds(len(units), count) as progress:
            return run_units(units, out / RUNS, resume, progress, count, as_done)
    except NonFiniteUpdate as error:  # a run that cannot be done is exit code 1
        raise RuntimeError(str(error)) from None


def as_rows(table: pd.DataFrame) -> list[dict[str, object]]:
    """A table as JSON has it: a dict a row."""
    return json.loads(str(table.to_json(orient="records")))


def show_list(kind: str, find: Callable[[], Iterable[Runs]], as_json: bool) -> bool:
    """Print names, titles and seeds, and say whether they can be run: where torch is missing the
    lists of the package are printed, which ``--list --json`` wrote.
    """
    from fairfl.reports.terminal import tell_list

    missing = None
    try:
        with extras_named():
            rows = [
                {"name": runs.name, "title": runs.title, "seeds": runs.seeds} for runs in find()
            ]
    except MissingExtra as error:
        rows = listed("studies", kind)
        missing = error
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        seeds = [", ".join(f"{profile} {n}" for profile, n in row["seeds"].items()) for row in rows]
        names, titles = ([row[key] for row in rows] for key in ("name", "title"))
        descriptions = (f"{title} (seeds: {n})" for title, n in zip(titles, seeds, strict=True))
        tell_list(list(zip(names, descriptions, strict=True)))
    if missing is not None:
        typer.echo(f"fairfl: listed, but not to be run: {missing}", err=True)
    return missing is None
