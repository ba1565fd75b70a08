"""The rate at which a distance falls with the people: one slope for several worlds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fairfl._support.checks import Array, as_floats

LEAST = 4
"""Smallest number of sample sizes: with three, one world's interval is 13 wide."""
WIDEST = 0.6
"""Wider intervals do not separate the rates n^-1/2, n^-1 and 0."""
BENT = 0.1
"""Tolerance of a slope: terms of higher order bend the line."""
TOO_FEW = "too few sizes or seeds to tell"


@dataclass(frozen=True)
class Rate:
    """distance ~ c_world n^slope, with the 95 % interval of the slope.

    Every world has a constant of its own, since worlds differ in level, which is no slope. The
    slope is one for all, since one world has too few sizes for an interval that says something; it
    is the mean of the slopes that the worlds have by themselves, ``by_world``. The interval is
    Student's, of the means over seeds: it speaks for these worlds and the law drawn through these
    sizes, not beyond.

    Attributes
    ----------
    slope, low, high : float
    sizes : what it was fitted on: the sizes that every world has. Others would weigh their worlds
        more.
    by_world : tuple
    """

    slope: float
    low: float
    high: float
    sizes: tuple[float, ...]
    by_world: tuple[float, ...]

    @classmethod
    def of(cls, sizes: ArrayLike, distances: ArrayLike, worlds: ArrayLike) -> Rate | None:
        """Least squares of log root mean square distance, by world and size, on log size and an
        intercept for each world.

        None where the worlds have fewer than ``LEAST`` sizes in common.
        Errors: ValueError for a size that is not positive, and for distances that vanish at a size.
        """
        n, d = as_floats("sizes", sizes), as_floats("distances", distances)
        world = np.asarray(worlds)
        if (n <= 0).any():
            raise ValueError(f"sizes must be positive, got {n.min():g}")
        masks = [world == name for name in np.unique(world)]
        common = np.array(sorted(set.intersection(*(set(n[rows].tolist()) for rows in masks))))
        if common.size < LEAST:
            return None
        spread = np.sqrt(
            [[np.mean(d[rows & (n == size)] ** 2) for size in common] for rows in masks]
        )
        if (spread == 0).any():
            raise ValueError(
                f"distances must not vanish, got 0 at size {common[(spread == 0).any(0)][0]:g}"
            )
        x, y = np.log(common) - np.log(common).mean(), np.log(spread)
        slopes = np.array([stats.linregress(x, row)[0] for row in y])
        slope = float(slopes.mean())
        residuals = y - y.mean(1, keepdims=True) - slope * x
        freedom = y.size - len(masks) - 1
        half = float(
            stats.t.ppf(0.975, freedom)
            * np.sqrt((residuals**2).sum() / freedom / (len(masks) * (x @ x)))
        )
        return cls(
            slope, slope - half, slope + half, tuple(common.tolist()), tuple(slopes.tolist())
        )

    def is_near(self, slope: float) -> bool | None:
        """Whether ``slope`` is in the interval or next to it; None if others are as well."""
        if not self.low - BENT <= slope <= self.high + BENT:
            return False
        return True if self.high - self.low <= WIDEST else None

    def __str__(self) -> str:
        if self.high - self.low > WIDEST:
            return TOO_FEW
        return f"n^{self.slope:.2f} (95 %: {self.low:.2f} to {self.high:.2f})"


def rms(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def rate_text(rate: Rate | None) -> str:
    """The rate as text; TOO_FEW without one."""
    return TOO_FEW if rate is None else str(rate)
