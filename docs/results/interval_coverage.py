"""Coverage of the intervals of ``fairfl frontier`` on laws whose truth is known.

    cd docs/results
    fairfl sweep interval_coverage.toml --import interval_coverage.py --out DIR
    python interval_coverage.py DIR/table.parquet

The truth is the frontier of the law on all levels of the score. A unit is a table of people that is
drawn from a law; the second command prints the table of docs/people.md.
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
from fairfl.reports.question import Question
from fairfl.reports.sampling import refitted
from fairfl.solvers.schemes import LABELS
from fairfl.theory.populations.calibration import Counted, ScoreWarning
from fairfl.theory.populations.count_people import count_people
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
    """``people`` in equal sites, the shares (I, A, n) of each site's by group and score 0, 1, ...,
    and P(y = 1 | x) (n,) or, calibrated by group, (I, A, n).
    """

    people: int
    shares: Any
    eta: Any
    notion: Any = "demographic_parity"
    calibrate: str = "shared"

    @property
    def question(self) -> Question:
        """What is compared."""
        return Question(self.notion)

    def truth(self) -> Federation:
        """The law on all levels of the score."""
        return Federation.finite(np.arange(self.shares.shape[2]), self.shares, self.eta)

    def table(self, seed: int) -> Counted:
        """People drawn from the law."""
        law = self.shares[:, :, None] * np.stack([1.0 - self.eta, self.eta], axis=-2)
        rng, size = np.random.default_rng(seed), self.people // len(law)
        counts = np.array([rng.multinomial(size, site.ravel() / site.sum()) for site in law])
        site, group, label, level = np.indices(law.shape).reshape(4, -1).repeat(counts.ravel(), 1)
        return count_people(level, label, group, site, self.calibrate)


def normal(people: int, mean: Any, q: Any, sd: Any = 1.0, shift: Any = None, **law: Any) -> Law:
    """x is normal of means and deviations (I, A), ``q`` the shares (I, A) of the groups, or (I,) of
    the second of two. P(y = 1 | x) is 1/(1 + exp(-x)), or by group with a ``shift`` (A,) added to
    1.5 x, and the score is 1/(1 + exp(-x)), rounded to 0.01.
    """
    z, q = norm.ppf((np.arange(QUANTILES) + 0.5) / QUANTILES), np.array(q)
    q = np.stack([1 - q, q], axis=1) if q.ndim == 1 else q
    masses, positive = np.zeros((2, *q.shape, 101))
    sd = np.broadcast_to(sd, q.shape)
    for i, a in np.ndindex(*q.shape):
        x = mean[i][a] + sd[i, a] * z
        level, eta = np.round(100 * expit(x)).astype(int), expit(x)
        if shift is not None:
            eta = expit(1.5 * x + shift[a])
        masses[i, a] = q[i, a] / QUANTILES * np.bincount(level, minlength=101)
        positive[i, a] = q[i, a] / QUANTILES * np.bincount(level, eta, 101)
    clients = (0,) if shift is not None else (0, 1)
    share, served = (v.sum(axis=clients, keepdims=True) for v in (masses, positive))
    eta = np.divide(served, share, out=np.zeros_like(share), where=share > 0)
    occupied = masses.sum(axis=(0, 1)) > 0
    eta = eta[0, 0] if shift is None else np.broadcast_to(eta, masses.shape)
    return Law(people, masses[..., occupied], eta[..., occupied], **law)


def coarse(seed: int, concentration: float = 1.0, notion: Any = "demographic_parity") -> Law:
    """Two sites of 1,500, three groups and 12 levels, of Dirichlet shares and uniform η."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(36, concentration), 2).reshape(2, 3, 12)
    return Law(3000, shares, np.sort(rng.uniform(size=12)), notion)


TIED = np.array(
    [
        [[0.125, 0.1, 0.1, 0.075, 0.05, 0.05], [0.05, 0.05, 0.05, 0.1, 0.1, 0.15]],
        [[0.1, 0.1, 0.1, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.1, 0.1, 0.1]],
    ]
)
"""Shares of a law with ties."""
SITES = np.stack([np.linspace(-0.5, 0.5, 10), np.linspace(1, 0, 10)], axis=1)
"""Means at ten sites."""
LAWS = {
    "the tutorial's": normal(4000, [[0.8, 1.6], [-0.2, -1.2]], [0.3, 0.7]),
    "means 3, 5 and 1, -1": normal(2000, [[3, 5], [1, -1]], [0.5, 0.5]),
    "two sites of one law": normal(3000, [[0, 1], [0, 1]], [0.5, 0.5]),
    "three sites": normal(4500, [[0, 1], [0.5, 0], [-1, 0.5]], [0.3, 0.5, 0.6]),
    "groups alike, sites apart": normal(3000, [[1, 1], [-1, -1]], [0.3, 0.7]),
    "no disparity": normal(2500, [[0, 0], [0, 0]], [0.5, 0.5]),
    "unequal deviations": normal(3000, [[0, 1], [0, 1]], [0.5, 0.5], [[0.5, 2], [2, 0.5]]),
    "six sites": normal(
        12000,
        [[0, 1], [1, 0], [0.5, 1], [-1, 0], [0, -0.5], [1, 2]],
        [0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
    ),
    "three groups": coarse(102),
    "three groups, equal opportunity": coarse(100, notion="equal_opportunity"),
    "a jump": coarse(1109, 0.5),
    "two levels at 1/2": Law(2000, TIED, np.array([0.15, 0.35, 0.5, 0.5, 0.65, 0.85])),
    "ten small sites": normal(2000, SITES, np.linspace(0.3, 0.7, 10)),
    "by group": normal(
        4000, [[0, 0.4], [-0.2, 0.2]], [0.3, 0.7], shift=[0.6, -0.9], calibrate="group"
    ),
}


@cache
def truth(law: str) -> np.ndarray:
    """(S, C) the true numbers of a law."""
    return compare(LAWS[law].truth(), question=LAWS[law].question, at=AT, count=30).numbers


def covered(law: str, seed: int) -> list[dict[str, Any]]:
    """Of a table's numbers those with an interval, and whether it contains the truth."""
    warnings.simplefilter("ignore", ScoreWarning)
    sample, question = LAWS[law].table(seed), LAWS[law].question
    federation = refitted(sample, sample.counts)
    comparison = compare(federation, question=question, at=AT, count=8)
    comparison = with_intervals(comparison, federation, sample, bootstraps=100, seed=0)
    assert comparison.spread is not None
    low, high = np.moveaxis(comparison.spread.interval, -1, 0)
    printed = np.isfinite(comparison.numbers + low + truth(law)) & (high - low >= ZERO)
    inside = (low - ZERO <= truth(law)) & (truth(law) <= high + ZERO)
    return [
        {"scheme": question.schemes[s], "number": NUMBERS[c], "inside": bool(inside[s, c])}
        for s, c in np.argwhere(printed)
    ]


def summary(table: pd.DataFrame) -> str:
    """A scheme's coverage over all numbers, and its lowest of one that half of the tables print."""
    table = table.assign(base=table["scheme"].str.removesuffix("_common"))
    shares: Any = table.groupby(["law", "base"])["inside"].mean()
    inside = table.groupby(["law", "base", "scheme", "number"])["inside"]
    half: Any = table.groupby("law")["seed"].nunique() / 2
    frequent: Any = inside.size().ge(half, level="law")
    means: Any = inside.mean()
    lowest = means[frequent].groupby(["law", "base"]).min()
    lines = []
    for name, law in LAWS.items():
        cells = [f"{shares[name, s]:.2f} ({lowest[name, s]:.2f})" for s in LABELS]
        lines.append(f"| {name} ({law.people:,}, {len(law.shares)}) | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(summary(pd.read_parquet(sys.argv[1])))
