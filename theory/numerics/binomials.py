"""A test of the difference of two binomial probabilities that is valid for counts of every size.

At a value θ of the second probability each count has an exact binomial test, and Stouffer's
combination of the two, weighted by the standard errors at θ, is valid too. The largest p-value over
a confidence set of θ is taken, and the chance that it misses θ is added (Berger and Boos, 1994).
"""

import math

import numpy as np
from scipy.special import betainc, betaincinv, ndtr, ndtri

MISSED = 2e-4
"""Probability that the confidence set misses θ."""
LARGEST_Z = 4.0
"""No z counts as more, lest a count of nobody hide the other; its probability is added."""
CELLS = 100
"""Cells of θ in a width of 1/√n, in each of which the p-value is bounded."""
Count = tuple[float, float]
"""Successes, and independent trials with one probability of success."""


def clopper_pearson(count: Count, missed: float) -> tuple[float, float]:
    """The exact confidence interval of a probability that misses it with probability ``missed``."""
    x, n = count
    low = betaincinv(x, n - x + 1, missed / 2) if x > 0 else 0.0
    high = betaincinv(x + 1, n - x, 1.0 - missed / 2) if x < n else 1.0
    return float(low), float(high)


def difference_p_value(first: Count, second: Count, limit: float) -> float:
    """P-value of "the first probability is above the second by ``limit`` or more": where that is
    so, it is at most α with probability at most α. 1 without trials.
    """
    (x, n), (y, m) = first, second
    if min(n, m) == 0:
        return 1.0
    # the first probability may be above θ by more than the limit: only its upper end bounds θ
    (_, largest), (low, high) = (clopper_pearson(count, MISSED / 2) for count in (first, second))
    high = min(high, largest - limit, 1.0 - limit)
    if low > high:
        return MISSED
    # binomial tails are monotone in θ, which in a cell is between left and right
    width = 1.0 / math.ceil(CELLS * math.sqrt(max(n, m)))
    left = np.arange(int(low / width), int(high / width) + 1) * width
    right, middle = np.minimum(left + width, 1.0), left + width / 2
    tails = (
        betainc(n - x, x + 1, np.maximum(1.0 - left - limit, 0.0)) if x < n else np.ones(1),
        betainc(y, m - y + 1, right) if y > 0 else np.ones(1),
    )
    p, q = (np.clip(chance, 0.0, 1.0) for chance in (middle + limit, middle))
    errors = [np.sqrt(r * (1.0 - r) / size) + width**2 for r, size in ((p, n), (q, m))]
    z = [np.minimum(ndtri(tail), LARGEST_Z) for tail in tails]
    combined = (errors[0] * z[0] + errors[1] * z[1]) / np.hypot(*errors)
    return min(1.0, float(ndtr(combined.max()) + MISSED + 2.0 * ndtr(-LARGEST_Z)))
