"""Predictions: training in several cases, verdicts with intervals, and what each cause explains."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import special

from fairfl._support.checks import Array
from fairfl.studies.beside_published import COVERAGE, half_interval
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE
from fairfl.studies.crosscheck.practice import Practice
from fairfl.studies.crosscheck.study import Verdict, series
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups

TRAINED, SAMPLED = "as trained", "no sampling"
LONGER, RICHER, ONE_STEP = "longer training", "richer models", "one local step"
"""Cases: practice as it is; without sampling; and without further causes of error."""
THEORY = "theory"
DISTANCE = "distance"
IDEAL = 0.02
"""2/√n at 10,000 people: two standard errors of an MD on so many, half of them in each group."""
NEAR = 0.005
"""Accuracy that a test on 10,000 people could not tell."""
EVEN_SEEDS = 4
"""Seeds of what has no sampling error: they differ by rounding to whole people."""


@dataclass(frozen=True)
class Interval:
    """Mean over seeds and its interval (Student's, 95 %); NaN ends of a single seed."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Array) -> Interval:
        """From a value for each seed."""
        spread = values.std(ddof=1) if len(values) > 1 else np.nan
        mean, half = float(values.mean()), float(half_interval(spread, len(values)))
        return cls(mean, mean - half, mean + half)

    @classmethod
    def between(cls, first: Array, second: Array) -> Interval:
        """Of the difference of two means: of as many seeds seed by seed, else Welch's."""
        if len(first) == len(second):
            return cls.of(first - second)
        parts = np.array([values.var(ddof=1) / len(values) for values in (first, second)])
        free = parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum()
        half = float(special.stdtrit(free, (1 + COVERAGE) / 2) * np.sqrt(parts.sum()))
        mean = float(first.mean() - second.mean())
        return cls(mean, mean - half, mean + half)

    @property
    def half(self) -> float:
        """Half of its length."""
        return (self.high - self.low) / 2

    def within(self, limit: float) -> bool | None:
        """Whether all of it is at most ``limit``; None where ``limit`` is inside."""
        return True if self.high <= limit else False if self.low > limit else None


Rows = Callable[[str, int], pd.DataFrame]
"""(case, number of seeds) -> measures of the case."""


def units_of(name: str, cases: Iterable[str], rows: Rows, scale: Scale) -> list[Unit]:
    """A unit a case, with all of its seeds, of which it is called by the last."""
    seeds = scale.seeds
    return [
        Unit(f"{name}-{k}-{seeds}", case, seeds - 1, (), partial(_labelled, rows, case, seeds))
        for k, case in enumerate(cases)
    ]


def _labelled(rows: Rows, case: str, seeds: int) -> pd.DataFrame:
    return rows(case, seeds).assign(case=case)


def by_seed(measures: pd.DataFrame, case: str, column: str = DISTANCE) -> Array:
    """Means over the points of each seed of a case."""
    part = among(measures, "case", [case])
    _, seeds, counts = np.unique(part["seed"], return_inverse=True, return_counts=True)
    return np.bincount(seeds, floats(part, column)) / counts


def causes(measures: pd.DataFrame, column: str = DISTANCE) -> pd.DataFrame:
    """A row a case: its mean, and how much of it its cause was. The second case, which lacks
    sampling alone, is compared with the first; every other one with the second.
    """
    cases = list(dict.fromkeys(measures["case"]))
    values, lines = [by_seed(measures, case, column) for case in cases], []
    for k, case in enumerate(cases):
        interval = Interval.of(values[k])
        line = {"case": case, "seeds": len(values[k]), column: interval.mean}
        line |= {"low": interval.low, "high": interval.high}
        removed = Interval.between(values[min(k - 1, 1)], values[k]) if k else None
        for name in ("mean", "low", "high"):
            line[f"removed {name}"] = getattr(removed, name, np.nan)
        lines.append(line)
    return pd.DataFrame(lines)


def limit_verdict(
    name: str,
    statement: str,
    measures: pd.DataFrame,
    limit: float,
    case: str = TRAINED,
    column: str = DISTANCE,
) -> Verdict:
    """Whether a case's mean is at most ``limit``; of practice also what each cause is of it."""
    interval = Interval.of(by_seed(measures, case, column))
    text = f"{case}: {interval.mean:.2g} ({interval.low:.2g} to {interval.high:.2g})"
    texts = [f"{text}, limit {limit:.2g}"]
    for row in causes(measures, column).to_dict("records")[1:] if case == TRAINED else ():
        ends = f"{row['removed low']:.2g} to {row['removed high']:.2g}"
        less = f"which is {row['removed mean']:.2g} ({ends}) less"
        texts.append(f"{row['case']} {row[column]:.2g}, {less}")
    return Verdict(name, interval.within(limit), statement, "; ".join(texts))


def hard_verdict(name: str, statement: str, slack: Array, tolerance: float = TOLERANCE) -> Verdict:
    """Whether every ``slack`` of an inequality, which is a theorem, is at least -``tolerance``."""
    smallest = float(np.min(slack))
    text = f"{np.size(slack)} values, the smallest slack {smallest:.2g}"
    return Verdict(name, bool(smallest >= -tolerance), statement, text, hard=True)


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


def cases_of(scheme: str, people: int = 1_000) -> dict[str, Practice]:
    """Practice, and sampling switched off, alone and with the optimisation or the model class."""
    even = Practice(scheme, 1_000, is_sampled=False)
    longer, richer = replace(even, rounds=48), replace(even, degree=3)
    return {TRAINED: Practice(scheme, people), SAMPLED: even, LONGER: longer, RICHER: richer}
