"""Runs units, each in its folder, and joins their clients' measures."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from fairfl._support.checks import instance
from fairfl._support.threads import one_thread
from fairfl._support.whole_file import write_whole
from fairfl.sims.data.fetch import data_read
from fairfl.sims.engine import simulate
from fairfl.studies.experiment import MODELS, Setting, Unit
from fairfl.studies.frames import rows
from fairfl.studies.unit_results import keep, stored_measures

CHECKPOINTS = 10  # a run

Progress = Callable[[str, int, int], None]
"""Called with a unit's name, the rounds done, and the rounds in all."""


@one_thread()
def run_unit(
    unit: Unit, folder: Path | None = None, resume: bool = False, progress: Progress | None = None
) -> pd.DataFrame:
    """The clients' measures of a unit: the engine's columns, and dataset, objective and seed. With
    a ``folder`` the run is kept there; ``resume`` goes on, or reads what is done. Errors: as
    ``simulate``, and as ``stored_measures``.
    """
    stored = stored_measures(folder / unit.name, unit) if resume and folder is not None else None
    if stored is not None:
        return stored
    with data_read() as files:
        setting = unit.make()
    if not isinstance(setting, Setting):
        setting = instance(f"what {unit.name} measured", setting, pd.DataFrame)
        measures = setting.assign(dataset=unit.dataset, unit=unit.name)
        if folder is not None:
            keep(folder / unit.name, unit, measures, files)
        return measures
    if len(unit.objectives) != len(setting.replicates):
        raise ValueError(
            f"objectives must name {len(setting.replicates)} replicates, got {unit.objectives!r}"
        )
    run = simulate(
        *setting.arguments,
        evaluate_every=setting.evaluate_every,
        folder=None if folder is None else folder / unit.name,
        checkpoint_every=max(1, setting.training.rounds // CHECKPOINTS),
        resume=resume and folder is not None,
        progress=None if progress is None else partial(progress, unit.name),
    )
    if unit.models is not None and folder is not None:
        for name, text in unit.models(run).items():
            write_whole(folder / unit.name / MODELS / name, text)
    if unit.measured is not None:
        return unit.measured(run).assign(dataset=unit.dataset, unit=unit.name)
    objective = np.array(unit.objectives, dtype=object)[run.clients["replicate"].to_numpy()]
    return run.clients.assign(
        dataset=unit.dataset, objective=objective, seed=unit.seed, unit=unit.name
    )


Map = Callable[
    [Callable[..., pd.DataFrame], Sequence[tuple[object, ...]], int], Iterator[pd.DataFrame]
]


def run_units(
    units: Sequence[Unit],
    folder: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    jobs: int = 1,
    mapper: Map | None = None,
) -> pd.DataFrame:
    """The measures of all units, in the units' order. ``mapper(function, tasks, jobs)`` spreads
    them over processes, and ``progress`` hears of each unit when it is done; by default they run
    here, and it hears of every round.
    """
    names = [unit.name for unit in units]
    if len(set(names)) < len(names):
        raise ValueError(f"units must have names of their own, got {names!r}")
    if jobs <= 1 or mapper is None:
        parts = [run_unit(unit, folder, resume, progress) for unit in units]
    else:
        parts = []
        for part in mapper(run_unit, [(unit, folder, resume) for unit in units], jobs):
            parts.append(part)
            if progress is not None:
                progress(str(part["unit"].iloc[0]), 1, 1)
        parts.sort(key=lambda part: names.index(part["unit"].iloc[0]))
    return pd.concat(parts, ignore_index=True)


BY_CLIENT = ("global", "personal", "ensemble")
"""Models in rows of single clients."""


def last_round(clients: pd.DataFrame, part: str, *models: str) -> pd.DataFrame:
    """The rows of one part after the last round of each unit, of these models or the global."""
    final = clients.groupby("unit")["round"].transform("max")
    is_last = (clients["round"] == final) & (clients["part"] == part)
    return rows(clients, is_last & clients["model"].isin(models or ("global",)))
