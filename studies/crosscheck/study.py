"""Study: units as in experiments, tables, verdicts, and pictures described as tables of series."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfl.solvers.schemes import SOLVED, SchemeName
from fairfl.studies.crosscheck.population.frontier_distance import exact
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.experiment import Runs
from fairfl.studies.frames import groups
from fairfl.theory.populations.notions import Notion

Table = Callable[[pd.DataFrame], pd.DataFrame]
"""Makes the table of a ``Drawing`` from the measures."""

KINDS = ("line", "points", "path", "band")
"""How a series is drawn: a curve; points; points that are joined, without and with a band."""


@dataclass(frozen=True)
class Verdict:
    """A statement and the measurement that supports or contradicts it.

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
    table : (measures) -> DataFrame; what is drawn, which is the CSV too: columns panel, series,
        kind (``KINDS``), x, y; low and high for bars at points and for bands. The order of the rows
        is the order of panels, of series, and of points along a path.
    """

    name: str
    title: str
    x: str
    y: str
    table: Table


@dataclass(frozen=True)
class Study(Runs):
    """A study: units, and of what they measured (``execute.run_units``) the tables by name, which
    are printed and written, the verdicts, and the pictures.
    """

    tables: Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
    verdicts: Callable[[pd.DataFrame], tuple[Verdict, ...]]
    pictures: tuple[Drawing, ...] = ()


def summary(
    measures: pd.DataFrame, keys: list[str], of: Callable[[pd.DataFrame], Mapping[str, object]]
) -> pd.DataFrame:
    """A row for each combination of the keys, with the columns that ``of`` computes."""
    lines = [
        {**dict(zip(keys, key, strict=True)), **of(part)} for key, part in groups(measures, keys)
    ]
    return pd.DataFrame(lines)


def series(
    panel: str, name: str, kind: str, x: ArrayLike, y: ArrayLike, **bars: ArrayLike
) -> pd.DataFrame:
    """One series of a ``Drawing``'s table; ``bars`` are low and high. All are made float64."""
    values = {key: np.asarray(v, dtype=float) for key, v in {"x": x, "y": y, **bars}.items()}
    return pd.DataFrame({"panel": panel, "series": name, "kind": kind, **values})


def trade_off(name: str, title: str, table: Table, x: str = "disparity |MD|") -> Drawing:
    """The picture of accuracy against disparity."""
    return Drawing(name, title, f"{x} (difference of rates)", "accuracy (share correct)", table)


def exact_curve(world: World, scheme: SchemeName, notion: Notion = "dp") -> pd.DataFrame:
    """The series of a scheme's exact frontier, in a panel without a name."""
    curve = exact(world, scheme, notion)
    return series("", f"{SOLVED[scheme].label}, exact", "line", curve.disparity, curve.accuracy)
