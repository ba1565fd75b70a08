"""Study: units as in experiments, tables, verdicts, and pictures described as tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from fairfl._support.checks import one_of
from fairfl.studies.experiment import Runs
from fairfl.studies.frames import floats, rows

KINDS = ("line", "points", "path")
"""How a series is drawn: a curve; points; points joined in the order of the rows."""


@dataclass(frozen=True)
class Verdict:
    """What was measured of one statement.

    Attributes
    ----------
    name : two to five words with hyphens.
    holds : None where the runs decide nothing (too few, or none of the kind).
    statement : what was asked.
    found : what was measured, in a sentence with numbers, seeds and sizes.
    hard : whether a violation is a fault of ours, a theorem being behind the statement.
    """

    name: str
    holds: bool | None
    statement: str
    found: str
    hard: bool = False


@dataclass(frozen=True)
class Drawing:
    """A picture: panels of series.

    Attributes
    ----------
    name : of its files.
    title : a line.
    x, y : the axes' labels, with units.
    table : callable (measures) -> DataFrame
        What is drawn, which is the CSV too: columns panel, series, kind (``KINDS``), x, y; low and
        high for bars at points. The order of the rows is the order of panels, of
        series, and of points along a path.
    log : which axes are logarithmic: "", "x", "y" or "xy".
    """

    name: str
    title: str
    x: str
    y: str
    table: Callable[[pd.DataFrame], pd.DataFrame]
    log: str = ""

    def __post_init__(self) -> None:
        one_of("log", self.log, ("", "x", "y", "xy"))


@dataclass(frozen=True)
class Study(Runs):
    """A study module, as the registry found it.

    Attributes
    ----------
    tables : callable (measures) -> dict of DataFrame
        By name, from what the units measured (``execute.run_units``): what is printed and written.
    verdicts : callable (measures) -> tuple of Verdict
    pictures : tuple of Drawing
    seen : int
        Seeds 0 to ``seen`` - 1 were run before the tolerances of the soft verdicts were set: these
        verdicts are predictions on the other seeds alone. 0 where no tolerance came from runs.
    """

    tables: Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
    verdicts: Callable[[pd.DataFrame], tuple[Verdict, ...]]
    pictures: tuple[Drawing, ...] = ()
    seen: int = 0


def fresh(study: Study, measures: pd.DataFrame) -> pd.DataFrame:
    """The measures of seeds not seen before; and of populations ("rows" = 0), without seeds."""
    kept = floats(measures, "seed") >= study.seen
    return rows(measures, kept | (floats(measures, "rows") == 0) if "rows" in measures else kept)


def fresh_seeds(study: Study, measures: pd.DataFrame) -> list[int]:
    """The seeds that were not seen, sorted; none where no seed was ever seen."""
    return (
        sorted({int(seed) for seed in measures["seed"] if seed >= study.seen}) if study.seen else []
    )


def predicted(
    study: Study, measures: pd.DataFrame, verdicts: tuple[Verdict, ...]
) -> dict[str, Verdict]:
    """The soft verdicts of unseen seeds alone, by name; none where there are no such seeds.

    What is found of them must not be what ``verdicts``, those of all measures, found: nothing is
    predicted where no seed plays a part.
    """
    if not fresh_seeds(study, measures):
        return {}
    known = {verdict.found for verdict in verdicts}
    alone = study.verdicts(fresh(study, measures))
    return {
        verdict.name: verdict
        for verdict in alone
        if not verdict.hard and verdict.found not in known
    }
