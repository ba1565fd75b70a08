"""Units of an experiment or a study, run in a folder that a stopped run is taken up from, with
progress on stderr.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairfl.cli.options import out_folder

if TYPE_CHECKING:
    import pandas as pd

    from fairfl.studies.experiment import Unit

RUNS = "runs"
"""The folder below --out where the runs are; experiments share them."""


def measured(units: Sequence[Unit], out: Path, resume: bool, jobs: int) -> pd.DataFrame:
    """What the units measured.

    Raises
    ------
    ValueError : a run that is there already, without ``resume``.  RuntimeError : a folder that
        cannot be made or written, before any run; an update that is not finite.
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
    out_folder(out)
    count = job_count(jobs, len(units))
    try:
        with of_rounds(len(units), count) as progress:
            return run_units(units, out / RUNS, resume, progress, count, as_done)
    except NonFiniteUpdate as error:  # what was asked for cannot be done: no fault of ours
        raise RuntimeError(str(error)) from None
