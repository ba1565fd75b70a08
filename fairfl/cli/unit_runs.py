"""Experiments and studies: listed, and their units run, in a folder from which a stopped run goes
on, with progress on stderr.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairfl.cli.options import out_folder

if TYPE_CHECKING:
    import pandas as pd

    from fairfl.studies.experiment import Runs, Unit

RUNS = "runs"
"""The folder below --out where the runs are; experiments share them."""


def measured(
    units: Sequence[Unit], out: Path, resume: bool, jobs: int, name: str, files: Iterable[str]
) -> pd.DataFrame:
    """What the units measured; ``files`` will be written into the folder ``name`` of ``out``.

    Raises
    ------
    ValueError : a run that is there already, without ``resume``.  RuntimeError : a folder or file
        that cannot be made or written, before any run; an update that is not finite.
    """
    from fairfl._support.processes import as_done, job_count
    from fairfl.cli.progress import of_rounds
    from fairfl.sims.engine import NonFiniteUpdate
    from fairfl.studies.execute import run_units

    there = [unit.name for unit in units if (out / RUNS / unit.name).exists()]
    if there and not resume:
        raise ValueError(
            f"--out must hold none of the runs, or --resume be given; {out / RUNS} holds {there[0]}"
            + (f" and {len(there) - 1} more" if len(there) > 1 else "")
        )
    out_folder(out / RUNS)
    out_folder(out / name, *files)
    count = job_count(jobs, len(units))
    try:
        with of_rounds(len(units), count) as progress:
            return run_units(units, out / RUNS, resume, progress, count, as_done)
    except NonFiniteUpdate as error:  # what was asked for cannot be done: no fault of ours
        raise RuntimeError(str(error)) from None


def listing(known: Iterable[Runs], as_json: bool) -> str:
    """Names, titles and seeds, a line each, or as JSON."""
    if as_json:
        rows = [{"name": one.name, "title": one.title, "seeds": one.seeds} for one in known]
        return json.dumps(rows, ensure_ascii=False, indent=1)
    known = list(known)
    width = max(len(one.name) for one in known)
    return "\n".join(
        f"{one.name:<{width}}  {one.title} "
        f"(seeds: {', '.join(f'{profile} {count}' for profile, count in one.seeds.items())})"
        for one in known
    )
