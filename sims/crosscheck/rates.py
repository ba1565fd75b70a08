"""How fast a distance shrinks with the number of people: the slope of its logarithm, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fairfl.theory.checks import as_floats

WIDEST = 0.6
"""An interval that tells n^-1/2 from n^-1 and from no rate at all is not much wider than this."""
BENT = 0.1
"""Terms of higher order bend the line: what follows a power law in the end may miss its slope by this on the way."""


@dataclass(frozen=True)
class Rate:
    """distance ~ n^slope, with the 95 % interval of the slope.

    The interval is Student's, of the means over seeds: it speaks for the law drawn through these sizes, not beyond.
    """

    slope: float
    low: float
    high: float

    @classmethod
    def of(cls, sizes: ArrayLike, distances: ArrayLike) -> Rate:
        """Least squares of log root mean square distance by size on log size; at least three sizes.

        Errors: ValueError for fewer, for a size that is not positive, and for distances that vanish at a size.
        """
        n, d = as_floats("sizes", sizes), as_floats("distances", distances)
        each = np.unique(n)
        if each.size < 3 or each[0] <= 0:
            raise ValueError(f"sizes must be at least three, all positive, got {each.tolist()}")
        spread = np.sqrt([np.mean(d[n == size] ** 2) for size in each])
        if (spread == 0).any():
            raise ValueError(f"distances must not vanish, got 0 at size {each[spread == 0][0]:g}")
        x, y = np.log(each) - np.log(each).mean(), np.log(spread)
        slope = float(x @ y / (x @ x))
        rest = y - y.mean() - slope * x
        freedom = each.size - 2
        half = float(stats.t.ppf(0.975, freedom) * np.sqrt(rest @ rest / freedom / (x @ x)))
        return cls(slope, slope - half, slope + half)

    def is_near(self, slope: float) -> bool | None:
        """Whether ``slope`` is in the interval or next to it; None where it is, but others are as well (too wide)."""
        if not self.low - BENT <= slope <= self.high + BENT:
            return False
        return True if self.high - self.low <= WIDEST else None

    def __str__(self) -> str:
        return f"n^{self.slope:.2f} (95 %: {self.low:.2f} to {self.high:.2f})"
