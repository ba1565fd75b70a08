"""The arena as two sweeps: all settings on tuning samples, then the best on scored ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from fairfl._support.checks import one_of, whole
from fairfl._support.extras import extras_named
from fairfl.sweeps.sweep import sweep

if TYPE_CHECKING:
    from fairfl.studies.arena.entrants import Entrant

PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"rules": ("figure-5d",), "models": ("table-2",), "rounds": 12, "tuning": 1},
    "full": {"rules": (), "models": (), "rounds": 100, "tuning": 2},
}
"""Federations of rules and of models that aim at objectives (none: all), rounds, tuning samples."""
TUNING = 1000
"""The seed of the first sample on which settings are chosen."""
COLUMNS = "round bytes score below_cfl below_scheme violation accuracy disparity error".split()
"""Columns of the rows, also where no unit has them."""
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Board:
    """The outcome of the arena.

    Attributes
    ----------
    standings : a row for each entrant: rank, scores and their intervals, speed, tuned settings.
    differences : a row for each pair of entrants of one question.
    rows : the scores of every sample and scored round, at the tuned settings.
    errors : messages of the scored units that failed, by frequency.
    """

    standings: pd.DataFrame
    differences: pd.DataFrame
    rows: pd.DataFrame
    errors: dict[str, int]


def arena(
    out: str | Path | None = None,
    *,
    profile: str = "quick",
    algorithms: Sequence[str] = (),
    federations: Sequence[str] = (),
    predictions: Sequence[str | Path] = (),
    seeds: int = 10,
    engine: str | Executor = "local",
    jobs: int = 0,
    progress: Tell | None = None,
) -> Board:
    """Train algorithms on samples of federations whose optimum is known, and score them on the
    laws: distances to certified optima, with intervals over samples. See docs/arena.md.

    Parameters
    ----------
    out : folder of the two sweeps, from which a stopped run goes on; by default none is kept.
    profile : "quick", two federations and 12 rounds, or "full", all and 100.
    algorithms, federations : labels and names; by default all, and the profile's.
    predictions : files of other systems' predictions, scored on the federations of rules.
    seeds : scored samples 0, 1, ..., at least 2.
    engine, jobs : as in :func:`fairfl.sweep`.
    progress : called with the stage, the units done, and of how many.

    Raises
    ------
    ValueError : an argument out of range, a folder of another run, a file that is no rule.
    AboveOptimum : a model is better than a certified optimum, a fault of the program.

    Examples
    --------
    >>> import fairfl as ff
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as thread:
    ...     board = ff.arena(algorithms=["FedSGD"], seeds=2, engine=thread)
    >>> bool(board.standings["score"][0] >= 0)
    True
    """
    with extras_named():
        from fairfl.studies.arena.entrants import chosen
        from fairfl.studies.arena.predictions import predicted
        from fairfl.studies.arena.published import federations as published
        from fairfl.studies.arena.standings import differences, standings
    choice = PROFILES[one_of("profile", profile, tuple(PROFILES))]
    whole("seeds", seeds, 2)
    entrants = {entrant.label: entrant for entrant in chosen(algorithms)}
    pairs = _pairs(entrants, federations, choice)
    names = list(federations or choice["rules"] or published())
    others = [predicted(path, range(seeds), names) for path in predictions]
    for entrant, _ in others:
        if entrant.label in entrants:
            raise ValueError(f"predictions must have names of their own, got {entrant.label!r}")
        entrants[entrant.label] = entrant
    with TemporaryDirectory() if out is None else nullcontext(out) as folder:
        run = partial(_run, folder=Path(folder), engine=engine, jobs=jobs, progress=progress)
        rows: Any = _trained(pairs, choice, range(seeds), run)
    errors = rows["error"].dropna().value_counts()
    for _, scores in others:
        rows = pd.concat([rows, scores.assign(round=choice["rounds"])], ignore_index=True)
    rows = rows[rows["score"].notna()]
    tables = standings(rows, entrants), differences(rows, entrants), rows
    return Board(*tables, {str(text): int(n) for text, n in errors.items()})


def _pairs(
    entrants: Mapping[str, Entrant], federations: Sequence[str], choice: dict[str, Any]
) -> list[tuple[str, Entrant]]:
    """The federations, by name, that each entrant is trained on."""
    from fairfl.studies.arena.published import federations as published

    places = published()
    for name in federations:
        one_of("federation", name, tuple(places))
    names = {key: federations or choice[key] or places for key in ("rules", "models")}
    pairs = [
        (name, entrant)
        for entrant in entrants.values()
        for name in dict.fromkeys(names["rules" if entrant.is_rule else "models"])
        if entrant.takes(places[name])
    ]
    if not pairs:
        labels = ", ".join(entrants)
        raise ValueError(f"federations must be such as can ask {labels}, got {list(federations)}")
    return pairs


def _trained(
    pairs: Sequence[tuple[str, Entrant]],
    choice: dict[str, Any],
    seeds: range,
    run: Callable[[str, list[dict[str, object]]], Any],
) -> Any:
    """The rows of the samples ``seeds``, at the settings that are best on tuning samples."""
    from fairfl.studies.arena.standings import tuned

    settings = {(name, entrant.label): list(entrant.settings) for name, entrant in pairs}
    rows: Any = None
    tuning = range(TUNING, TUNING + choice["tuning"])
    for stage, samples in {"tuning": tuning, "scores": seeds}.items():
        units = [
            {"federation": name, "entrant": entrant.label, "seed": seed}
            | {"setting": setting, "rounds": choice["rounds"]}
            for name, entrant in pairs
            for setting in settings[name, entrant.label]
            for seed in samples
        ]
        rows = run(stage, units)
        settings = tuned(rows)
        if rows["score"].isna().all() or stage == "tuning" and not any(settings.values()):
            raise RuntimeError(f"none could be trained: {rows['error'].dropna().iloc[0]}")
    return rows


def _run(
    stage: str,
    units: list[dict[str, object]],
    folder: Path,
    engine: str | Executor,
    jobs: int,
    progress: Tell | None,
) -> Any:
    """The rows of a stage's sweep; AboveOptimum where a unit ended with it."""
    from fairfl.studies.arena.scores import AboveOptimum
    from fairfl.studies.arena.unit import unit

    tell = None if progress is None else partial(progress, stage)
    if tell is not None:
        tell(0, len(units))
    rows = sweep(unit, units, folder / stage, engine=engine, jobs=jobs, progress=tell)
    for message in rows["error"].dropna():
        if message.startswith(AboveOptimum.__name__):
            raise AboveOptimum(message)
    return rows.reindex(columns=list(dict.fromkeys([*COLUMNS, *rows])))
