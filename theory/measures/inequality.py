"""Social-evaluation functions of utilities and their indices of inequality (p-FFL, section 2.2).

A utility vector u (larger is better) is evaluated as G(u) = sum_k p_k u_(k), u_(1) <= ... <= u_(n)
the utilities sorted, the worst first, with p_1 >= ... >= p_n >= 0, sum one: a transfer from a
better-off client to a worse-off one does not lower G. It is a rank-weighted mean A of -u, G(u) =
-A(-u), so everything about ``RankWeighted`` applies; G(u) is the utility which, given to all, would
be evaluated like u. For *losses* use ``RankWeighted`` itself.

>>> from fairfl.theory.measures.inequality import gini_index, social_evaluation
>>> social_evaluation([1.0, 3.0]), gini_index([1.0, 3.0])  # (3 * 1 + 1 * 3) / 4, and 1 - 1.5 / 2
(np.float64(1.5), np.float64(0.25))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array
from fairfl.theory.aggregation import RankWeighted
from fairfl.theory.aggregation._checks import shape_of
from fairfl.theory.measures.uniformity import half_mean_difference

Weights = RankWeighted | Sequence[float]
GINI = RankWeighted.gini()


def social_evaluation(utilities: ArrayLike, weights: Weights = GINI) -> Any:
    """G(u) = sum_k p_k u_(k), u sorted ascending: from the smallest utility to the mean, of any
    sign; shape (...).

    ``utilities`` (..., n); ``weights`` a ``RankWeighted`` or its n weights, the first for the
    smallest utility. The default, p_k = (2(n-k)+1)/n^2, is the Gini social-evaluation function.
    Errors: ValueError for weights that are negative, increase, or do not sum to one: such a G
    rewards inequality. Source: p-FFL, eqs. (4) and (5), which sort descending and list the weights
    from the other end.
    """
    u = _utilities(utilities)
    return 0.0 - np.asarray(_objective(weights).value(-u))[()]


def absolute_inequality(utilities: ArrayLike, weights: Weights = GINI) -> Any:
    """mean u - G(u) >= 0, in the unit of u: what could be taken from the mean at no loss if all had
    the same.

    For utilities of any sign, and not changed when all change by one amount.
    """
    u = _utilities(utilities)
    objective = _objective(weights)
    if objective == GINI:
        return half_mean_difference(u, None)[()]  # without cancellation
    centre = u.mean(-1, keepdims=True)
    # A(-u) + mean u, and A is at least the mean
    return np.maximum(objective.value(centre - u), 0.0)[()]


def relative_inequality(utilities: ArrayLike, weights: Weights = GINI) -> Any:
    """1 - G(u) / mean u, a number >= 0 without unit: Weymark's relative index, not changed when u
    is scaled.

    It is at most 1 for u >= 0; where some utilities are negative it may exceed 1.
    Errors: ValueError where mean u <= 0. There the index means nothing: for a mean below 0 it would
    fall with inequality, at 0 it does not exist. p-FFL, section 2.2.1, says "any vector u in R^n".
    Source: p-FFL, eq. (3), for any weights.
    """
    u = _utilities(utilities)
    mean = u.mean(-1)
    if u.size and not (mean > 0).all():
        at = tuple(int(k) for k in np.argwhere(~(mean > 0))[0])
        where = f" at index {at}" if at else ""
        raise ValueError(
            "utilities must have a mean > 0 for a relative index (absolute_inequality has no "
            f"such need), got a mean of {mean[at]}{where}"
        )
    return absolute_inequality(u, weights) / mean


def gini_index(utilities: ArrayLike) -> Any:
    """I(u) = 1 - (1/n^2) sum_i (2i-1) u_[i] / mean u, u sorted descending; 0 iff all are equal,
    below 1 for u >= 0.

    Computed as sum_ij |u_i - u_j| / (2 n^2 mean u), the same number without cancellation.
    Errors: ValueError where mean u <= 0: see ``relative_inequality``. For losses, which may all be
    0, there is ``uniformity.gini``. Source: p-FFL, eq. (3).
    """
    return relative_inequality(utilities, GINI)


def _objective(weights: Weights) -> RankWeighted:
    if isinstance(weights, RankWeighted):
        return weights
    return RankWeighted(tuple(checks.finite("weights", weights).tolist()))


def _utilities(utilities: ArrayLike) -> Array:
    u = checks.finite("utilities", utilities)
    shape_of("utilities", u.shape, None, "")
    return u
