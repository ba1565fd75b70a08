"""Coverage of the intervals of ``fairfl frontier`` on eight laws.

    python docs/results/coverage.py [TABLES]

x is normal in each site and group, P(y = 1 | x) = 1/(1 + exp(-x)), and the score is this, rounded
to 0.01. The truth is the frontier of the law on all levels of the score. TABLES tables of people
are drawn from each law, 100 by default. coverage.csv has a row for each law, scheme and printed
number; the missing tables of each law are drawn, five at a time.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import expit
from scipy.stats import norm

from fairfl._support.whole_file import write_whole
from fairfl.figures.lib import style
from fairfl.figures.lib.saved import csv_text, save
from fairfl.reports.comparison import ENDS, ZERO, Comparison, compare
from fairfl.reports.comparison_intervals import with_intervals
from fairfl.reports.question import PLAIN
from fairfl.reports.sampling import refitted
from fairfl.solvers.schemes import SCHEMES
from fairfl.theory.populations.calibration import Counted, ScoreWarning, count_people
from fairfl.theory.populations.federation import Federation

HERE = Path(__file__).resolve().parent
AT = (0.05, 0.1, 0.2)
"""Disparities of the comparison."""
TARGET = 0.93
STEP = 5
"""Number of tables that are drawn of a law before those of the next."""
KEY = ["law", "scheme", "number"]
QUANTILES = 200_000
"""Number of quantiles of x in each site and group that give the truth."""


class Law(NamedTuple):
    """``people`` in equal sites: means and deviations of x (I, 2), shares q (I,) of group 1."""

    people: int
    mean: Any
    q: Any
    sd: Any = 1.0

    def truth(self) -> Federation:
        """The law on all levels of the score."""
        z = norm.ppf((np.arange(QUANTILES) + 0.5) / QUANTILES)
        masses, positive = np.zeros((2, len(self.q), 2, 101))
        sd = np.broadcast_to(self.sd, np.shape(self.mean))
        for i, a in np.ndindex(*sd.shape):
            eta = expit(self.mean[i][a] + sd[i, a] * z)
            level = np.round(100 * eta).astype(int)
            share = (self.q[i] if a else 1 - self.q[i]) / QUANTILES
            masses[i, a] = share * np.bincount(level, minlength=101)
            positive[i, a] = share * np.bincount(level, eta, 101)
        occupied = masses.sum(axis=(0, 1)) > 0
        masses, positive = masses[..., occupied], positive[..., occupied]
        eta = positive.sum(axis=(0, 1)) / masses.sum(axis=(0, 1))
        return Federation.finite(np.flatnonzero(occupied) / 100, masses, eta)

    def table(self, seed: int) -> Counted:
        """People drawn from the law."""
        rng = np.random.default_rng(seed)
        site = np.arange(self.people) % len(self.q)
        group = (rng.random(self.people) < np.array(self.q)[site]).astype(int)
        mean, sd = np.array(self.mean), np.broadcast_to(self.sd, np.shape(self.mean))
        eta = expit(rng.normal(mean[site, group], sd[site, group]))
        return count_people(eta.round(2), rng.random(self.people) < eta, group, site)


LAWS = {
    "the tutorial's": Law(4000, [[0.8, 1.6], [-0.2, -1.2]], [0.3, 0.7]),
    "means 3, 5 and 1, -1": Law(2000, [[3, 5], [1, -1]], [0.5, 0.5]),
    "two sites of one law": Law(3000, [[0, 1], [0, 1]], [0.5, 0.5]),
    "three sites": Law(4500, [[0, 1], [0.5, 0], [-1, 0.5]], [0.3, 0.5, 0.6]),
    "groups alike, sites apart": Law(3000, [[1, 1], [-1, -1]], [0.3, 0.7]),
    "no disparity": Law(2500, [[0, 0], [0, 0]], [0.5, 0.5]),
    "unequal deviations": Law(3000, [[0, 1], [0, 1]], [0.5, 0.5], [[0.5, 2], [2, 0.5]]),
    "six sites": Law(
        12000,
        [[0, 1], [1, 0], [0.5, 1], [-1, 0], [0, -0.5], [1, 2]],
        [0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
    ),
}


def columns() -> list[str]:
    """Names of the numbers."""
    numbers = [f"{measure} at {d:g}" for measure in ("accuracy", "loss") for d in AT]
    return [name.replace("_", " ") for name in ENDS] + numbers + ["cost of disparity"]


def inside(comparison: Comparison, truth: np.ndarray) -> np.ndarray:
    """(S, C) whether a printed interval contains the truth, 1 or 0; NaN where none is printed."""
    assert comparison.spread is not None
    low, high = np.moveaxis(comparison.spread.interval, -1, 0)
    printed = np.isfinite(comparison.numbers + low + truth) & (high - low >= ZERO)
    return np.where(printed, (low - ZERO <= truth) & (truth <= high + ZERO), np.nan)


@cache
def truth(name: str) -> np.ndarray:
    """(S, C) the true numbers of a law."""
    return compare(LAWS[name].truth(), at=AT, count=30).numbers


def measured(name: str, seeds: range) -> pd.DataFrame:
    """Numbers of intervals of a law's tables that are printed, and that contain the truth."""
    hits = []
    for seed in seeds:
        sample = LAWS[name].table(seed)
        federation = refitted(sample, sample.counts)
        comparison = compare(federation, at=AT, count=8)
        comparison = with_intervals(comparison, federation, sample, bootstraps=100, seed=0)
        hits.append(inside(comparison, truth(name)))
    printed, covered = np.isfinite(hits).sum(axis=0), np.nansum(hits, axis=0).astype(int)
    names = pd.MultiIndex.from_product([[name], PLAIN.schemes, columns()], names=KEY)
    counts = {"tables": len(seeds), "printed": printed.ravel(), "inside": covered.ravel()}
    return pd.DataFrame(counts, index=names)


def draw(rows: Any) -> Figure:
    """A dot for each number, by law and scheme."""
    figure = Figure(figsize=(style.PAGE, 4.2))
    axes = figure.subplots()
    for k, name in enumerate(LAWS):
        for j, scheme in enumerate(PLAIN.schemes):
            points = rows[(rows["law"] == name) & (rows["scheme"] == scheme)]
            share, height = points["inside"] / points["printed"], len(points) * [-k - 0.13 * j]
            axes.plot(
                share, height, ls="", alpha=0.6,
                label=SCHEMES[scheme].label if k == 0 else None, **SCHEMES[scheme].mark,
            )  # fmt: skip
    axes.axvline(TARGET, color=style.INK, lw=0.8)
    axes.set(xlabel="share of intervals that hold the truth", xlim=(0, 1.02))
    axes.set_yticks([-k - 0.26 for k in range(len(LAWS))], list(LAWS))
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def table(rows: Any) -> str:
    """For docs/people.md: a scheme's coverage over all numbers, in brackets its lowest of one."""
    rows = rows.assign(scheme=rows["scheme"].map(lambda s: s.removesuffix("_common")))
    lines = []
    for name, law in LAWS.items():
        law_rows, cells = rows[rows["law"] == name], []
        for scheme in ("cfl", "lft_fedavg", "lft_ensemble"):
            scheme_rows = law_rows[law_rows["scheme"] == scheme]
            # others are printed in too few tables
            frequent = scheme_rows[scheme_rows["printed"] >= scheme_rows["tables"] / 2]
            low = (frequent["inside"] / frequent["printed"]).min()
            share = scheme_rows["inside"].sum() / scheme_rows["printed"].sum()
            cells.append(f"{share:.2f} ({low:.2f})".replace("0.", "."))
        lines.append(f"| {name} ({law.people:,}, {len(law.q)}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(tables: int = 100) -> None:
    """Draw the tables that are missing, write coverage.csv and its picture, print the table."""
    warnings.simplefilter("ignore", ScoreWarning)
    file = HERE / "coverage.csv"
    counts: Any = pd.DataFrame()
    if file.exists():
        counts = pd.read_csv(file).set_index(KEY)
    for stop in [*range(STEP, tables, STEP), tables]:
        for name in LAWS:
            is_new = counts.empty or name not in counts.index
            start = 0 if is_new else counts["tables"][name].iloc[0]
            if start < stop:
                counts = pd.concat([counts, measured(name, range(start, stop))])
                counts = counts.groupby(level=KEY, sort=False).sum()
                write_whole(file, csv_text(counts.reset_index()))
    rows = counts.reset_index()
    with style.sheet():
        save("coverage", "Coverage of the intervals", rows, draw(rows), HERE)
    print(table(rows))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
