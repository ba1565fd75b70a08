"""A test of the difference of two binomial probabilities that is valid for every sample size.

For a value θ of the second probability, the two counts have one exact binomial test each. These
are independent, and Stouffer's combination of both, with the standard errors at θ as weights, is a
test that no sample size makes invalid, and that for large counts is the usual test of a difference.
θ is not known: the largest p-value over a confidence set of θ is taken, and what the set may miss
is added (Berger and Boos, 1994).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv, ndtr, ndtri

MISSED = 2e-4
"""Probability that the confidence set does not hold θ."""
LARGEST_Z = 4.0
"""One count's z counts as no more, so that a count of nobody does not hide the other count."""
CELLS = 100
"""Cells of θ in a width of 1/√n; the p-value is bounded in each cell."""


class Count(NamedTuple):
    """Successes among independent trials with one probability."""

    successes: int
    trials: int


def clopper_pearson(count: Count, missed: float) -> tuple[float, float]:
    """The exact confidence interval of a probability, which ``missed`` is the probability of not
    covering, half on each side (Clopper and Pearson, 1934).
    """
    x, n = count
    low = betaincinv(x, n - x + 1, missed / 2) if x > 0 else 0.0
    high = betaincinv(x + 1, n - x, 1.0 - missed / 2) if x < n else 1.0
    return float(low), float(high)


def difference_p_value(first: Count, second: Count, limit: float) -> float:
    """P-value of "the probability of ``first`` is above that of ``second`` by ``limit`` or more":
    under this, it is at most α with probability at most α, for all α, trials and probabilities.

    1 where there are no trials.
    """
    if min(first.trials, second.trials) == 0:
        return 1.0
    intervals = (clopper_pearson(count, MISSED / 2) for count in (first, second))
    (low, high), (second_low, second_high) = intervals
    low = max(second_low, low - limit, 0.0)
    high = min(second_high, high - limit, 1.0 - limit)
    if low > high:
        return MISSED
    # in a cell θ is at least left and at most right, and the binomial tails are monotone in θ
    width = 1.0 / math.ceil(CELLS * math.sqrt(max(first.trials, second.trials)))
    left = np.arange(int(low / width), int(high / width) + 1) * width
    right, middle = np.minimum(left + width, 1.0), left + width / 2
    tails = (
        bdtr(first.successes, first.trials, np.minimum(left + limit, 1.0)),
        bdtrc(second.successes - 1, second.trials, right) if second.successes else np.ones(1),
    )
    chances = (np.clip(middle + limit, 0.0, 1.0), np.clip(middle, 0.0, 1.0))
    trials = (first.trials, second.trials)
    errors = [np.sqrt(p * (1.0 - p) / n) + width**2 for p, n in zip(chances, trials, strict=True)]
    z = [np.minimum(ndtri(tail), LARGEST_Z) for tail in tails]
    combined = (errors[0] * z[0] + errors[1] * z[1]) / np.hypot(*errors)
    return min(1.0, float(ndtr(combined.max()) + MISSED + 2.0 * ndtr(-LARGEST_Z)))
