"""Study: units as in experiments, tables, verdicts, and pictures described as tables."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from fairfl._support.checks import one_of
from fairfl.studies.experiment import Runs

KINDS = ("line", "points", "path", "band")
"""How a series is drawn: a curve; points; points joined in the order of the rows, without and with
a band of their intervals.
"""


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
    tables : (measures) -> dict of DataFrame; by name, from what the units measured
        (``execute.run_units``): what is printed and written.
    verdicts : callable (measures) -> tuple of Verdict
    pictures : tuple of Drawing
    """

    tables: Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
    verdicts: Callable[[pd.DataFrame], tuple[Verdict, ...]]
    pictures: tuple[Drawing, ...] = ()
