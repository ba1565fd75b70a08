"""Experiments and studies: their options and list, and their units, run with progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_type_hints

import typer

from fairfl._support.extras import MissingExtra, extras_named
from fairfl.cli.lib.options import AsJson, Jobs, Listed, expanded, listed, option, out_folder, place

if TYPE_CHECKING:
    import pandas as pd

    from fairfl.studies.experiment import Runs, Scale, Unit

RUNS = "runs"
"""The folder below --out where the runs are; experiments share them."""


class Profile(StrEnum):
    """How long an experiment runs."""

    quick = "quick"
    paper = "paper"


@dataclass(frozen=True)
class RunOptions:
    """What is asked of experiments and of studies alike."""

    profile: Annotated[Profile, option("quick: to see it; paper: as published or recorded.")] = (
        Profile.quick
    )
    seeds: Annotated[
        int | None,
        option("Seeds 0, 1, ..., or a file's if it lists as many; default: see --list.", min=1),
    ] = None
    out: Annotated[
        Path, option("Folder of runs, tables and pictures.", "--out", **place("DIR"))
    ] = Path("out")
    resume: Annotated[bool, option("Go on from the runs in DIR.", "--resume")] = False
    jobs: Jobs = 1
    as_json: AsJson = False
    show: Listed = False

    def scale(self, runs: Runs) -> Scale:
        """How much is run."""
        from fairfl.studies.experiment import Scale

        profile = self.profile.value
        return Scale(profile, self.seeds or runs.seeds[profile])


def with_runs(out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with ``RunOptions`` in place of its argument ``run``, in the folder ``out``."""
    hints = get_type_hints(RunOptions, include_extras=True)
    rows = {row.name: (hints[row.name], row.default) for row in fields(RunOptions)}
    rows["out"] = hints["out"], Path(out)
    return lambda command: expanded(command, "run", rows, RunOptions)


def measured(
    units: Sequence[Unit], run: RunOptions, name: str, written: Iterable[str]
) -> pd.DataFrame:
    """What the units measured; ``written`` will be made into the folder ``name`` of ``run.out``.

    Raises
    ------
    ValueError : a run that is there already, without ``--resume``.  RuntimeError : a folder or file
        that cannot be made or written, before any run; an update that is not finite.
    """
    from fairfl._support.processes import as_done, job_count
    from fairfl.cli.lib.progress import of_rounds
    from fairfl.sims.engine import NonFiniteUpdate
    from fairfl.studies.execute import run_units

    folder = run.out / RUNS
    taken = [unit.name for unit in units if (folder / unit.name).exists()]
    if taken and not run.resume:
        raise ValueError(
            f"--out must hold none of the runs, or --resume be given; {folder} holds {taken[0]}"
            + (f" and {len(taken) - 1} more" if len(taken) > 1 else "")
        )
    out_folder(folder)
    out_folder(run.out / name, *written)
    count = job_count(run.jobs, len(units))
    try:
        with of_rounds(len(units), count) as progress:
            return run_units(units, folder, run.resume, progress, count, as_done)
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
