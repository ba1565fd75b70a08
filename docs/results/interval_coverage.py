"""Coverage of the intervals of ``fairfl frontier`` on eight laws.

    cd docs/results
    fairfl sweep interval_coverage.toml --import interval_coverage.py --out DIR
    python interval_coverage.py DIR/table.parquet

x is normal in each site and group, P(y = 1 | x) = 1/(1 + exp(-x)), and the score is this, rounded
to 0.01. The truth is the frontier of the law on all levels of the score. A unit is a table of
people that is drawn from a law; the second command prints the table of docs/people.md.
"""

import sys
import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from fairfl.reports.comparison import ENDS, ZERO, compare
from fairfl.reports.comparison_intervals import with_intervals
from fairfl.reports.question import PLAIN
from fairfl.reports.sampling import refitted
from fairfl.theory.populations.calibration import Counted, ScoreWarning, count_people
from fairfl.theory.populations.federation import Federation

AT = (0.05, 0.1, 0.2)
"""Disparities of the comparison."""
NUMBERS = [
    *(name.replace("_", " ") for name in ENDS),
    *(f"{measure} at {d:g}" for measure in ("accuracy", "loss") for d in AT),
    "cost of disparity",
]
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


@cache
def truth(law: str) -> np.ndarray:
    """(S, C) the true numbers of a law."""
    return compare(LAWS[law].truth(), at=AT, count=30).numbers


def covered(law: str, seed: int) -> list[dict[str, Any]]:
    """Of a table's numbers those with an interval, and whether it contains the truth."""
    warnings.simplefilter("ignore", ScoreWarning)
    sample = LAWS[law].table(seed)
    federation = refitted(sample, sample.counts)
    comparison = compare(federation, at=AT, count=8)
    comparison = with_intervals(comparison, federation, sample, bootstraps=100, seed=0)
    assert comparison.spread is not None
    low, high = np.moveaxis(comparison.spread.interval, -1, 0)
    printed = np.isfinite(comparison.numbers + low + truth(law)) & (high - low >= ZERO)
    inside = (low - ZERO <= truth(law)) & (truth(law) <= high + ZERO)
    return [
        {"scheme": PLAIN.schemes[s], "number": NUMBERS[c], "inside": bool(inside[s, c])}
        for s, c in np.argwhere(printed)
    ]


def summary(table: pd.DataFrame) -> str:
    """A scheme's coverage over all numbers, and in brackets its lowest of one that half of the
    tables print.
    """
    table = table.assign(base=table["scheme"].str.removesuffix("_common"))
    shares: Any = table.groupby(["law", "base"])["inside"].mean()
    inside = table.groupby(["law", "base", "scheme", "number"])["inside"]
    half: Any = table.groupby("law")["seed"].nunique() / 2
    frequent: Any = inside.size().ge(half, level="law")
    means: Any = inside.mean()
    lowest = means[frequent].groupby(["law", "base"]).min()
    lines = []
    for name, law in LAWS.items():
        cells = [f"{shares[name, s]:.2f} ({lowest[name, s]:.2f})" for s in lowest[name].index]
        lines.append(f"| {name} ({law.people:,}, {len(law.q)}) | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(summary(pd.read_parquet(sys.argv[1])))
