"""Shared by predictions: what was trained in several cases, verdicts with intervals, and causes.

The measures have a row for each case, seed and point. The first case is practice as it is, the
second lacks sampling; each other one lacks sampling and one further cause of error. ``distance``
is how far training ended from the prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from fairfl._support.checks import Array
from fairfl.studies.beside_published import COVERAGE, half_interval
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import series
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups

TRAINED, SAMPLED = "as trained", "no sampling"
LONGER, RICHER, ONE_STEP = "longer training", "richer models", "one local step"
"""Cases: practice as it is; without sampling; and without one further cause of error."""
THEORY = "theory"
DISTANCE = "distance"
Rows = Callable[..., pd.DataFrame]
"""(case, number of seeds) -> measures of the case."""


@dataclass(frozen=True)
class Interval:
    """Mean over seeds and its interval (Student's, 95 %); NaN ends of a single seed."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Array) -> Interval:
        """From a value for each seed."""
        half = float(half_interval(values.std(ddof=1) if len(values) > 1 else np.nan, len(values)))
        return cls(float(values.mean()), float(values.mean()) - half, float(values.mean()) + half)

    @classmethod
    def between(cls, first: Array, second: Array) -> Interval:
        """Of the difference of two means: of as many seeds seed by seed, else Welch's."""
        if len(first) == len(second):
            return cls.of(first - second)
        ends = stats.ttest_ind(first, second, equal_var=False).confidence_interval(COVERAGE)
        return cls(float(first.mean() - second.mean()), float(ends.low), float(ends.high))

    def within(self, limit: float) -> bool | None:
        """Whether all of it is at most ``limit``; None where ``limit`` is inside."""
        return True if self.high <= limit else False if self.low > limit else None

    def __str__(self) -> str:
        return f"{self.mean:.2g} ({self.low:.2g} to {self.high:.2g})"


def units_of(name: str, cases: Iterable[str], rows: Rows, scale: Scale) -> list[Unit]:
    """A unit a case, with all of its seeds."""
    return [
        Unit(f"{name}-{k}-{scale.seeds}", case, 0, (), partial(_labelled, rows, case, scale.seeds))
        for k, case in enumerate(cases)
    ]


def _labelled(rows: Rows, case: str, seeds: int) -> pd.DataFrame:
    return rows(case, seeds).assign(case=case)


def by_seed(measures: pd.DataFrame, case: str, column: str = DISTANCE) -> Array:
    """Means over the points of each seed of a case."""
    part = among(measures, "case", [case])
    return np.array([floats(rows, column).mean() for _, rows in groups(part, ["seed"])])


def causes(measures: pd.DataFrame, column: str = DISTANCE) -> pd.DataFrame:
    """A row a case: its mean, and how much of the distance its causes were. The second case, which
    lacks sampling alone, is compared with the first; every other one with the second.
    """
    cases = list(dict.fromkeys(measures["case"]))
    values = [by_seed(measures, case, column) for case in cases]
    lines = []
    for k, case in enumerate(cases):
        line: dict[str, object] = {"case": case, "seeds": len(values[k])}
        interval = Interval.of(values[k])
        line |= {column: interval.mean, "low": interval.low, "high": interval.high}
        if k:
            base = values[min(k - 1, 1)]
            interval = Interval.between(base, values[k])
            line |= {"removed": interval.mean, "removed low": interval.low}
            line |= {"removed high": interval.high}
        lines.append(line)
    return pd.DataFrame(lines)


def near_verdict(
    name: str,
    statement: str,
    measures: pd.DataFrame,
    limit: float,
    case: str = TRAINED,
    column: str = DISTANCE,
) -> Verdict:
    """Whether a case's mean is at most ``limit``; of practice also what each cause is of it."""
    interval = Interval.of(by_seed(measures, case, column))
    texts = [f"{case}: {interval}, limit {limit:.2g}"]
    if case == TRAINED:
        texts += [
            f"{row['case']} {row[column]:.2g}, which is {row['removed']:.2g} "
            f"({row['removed low']:.2g} to {row['removed high']:.2g}) less"
            for row in causes(measures, column).to_dict("records")[1:]
        ]
    return Verdict(name, interval.within(limit), statement, "; ".join(texts))


def hard_verdict(name: str, statement: str, slack: Array, tolerance: float) -> Verdict:
    """Whether every ``slack`` of an inequality, which is a theorem, is at least -``tolerance``."""
    least = float(np.min(slack, initial=np.inf))
    found = f"{np.size(slack)} values, the least slack {least:.2g}"
    return Verdict(name, bool(least >= -tolerance), statement, found, hard=True)


def banded(
    panel: str, measures: pd.DataFrame, x: str, y: str, by: str, kind: str = "band"
) -> pd.DataFrame:
    """Means over seeds and their intervals for each case, in the order of ``by``."""
    parts = []
    for (case,), part in groups(measures, ["case"]):
        points = [rows for _, rows in groups(part, [by])]
        bands = [Interval.of(floats(rows, y)) for rows in points]
        ends = {"low": [band.low for band in bands], "high": [band.high for band in bands]}
        at, means = [floats(rows, x).mean() for rows in points], [band.mean for band in bands]
        parts.append(series(panel, case, kind, at, means, **ends))
    return pd.concat(parts, ignore_index=True)
