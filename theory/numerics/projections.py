"""Euclidean projections onto the simplex and boxes of a given sum, and soft thresholds."""

import numpy as np

from fairfl._support.checks import Array


def soft_threshold(values: Array, margin: Array | float) -> Array:
    """Each value moved towards 0 by ``margin``, and no further than 0."""
    return np.sign(values) * np.maximum(np.abs(values) - margin, 0.0)


def onto_simplex(point: Array, total: float = 1.0) -> Array:
    """The nearest point with entries >= 0 and sum ``total`` (Held, Wolfe and Crowder 1974)."""
    point = np.maximum(point - point.max(), -total)  # a common shift, and what is 0 anyway
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(point) + 1)
    return np.maximum(point - excess[np.flatnonzero(falling > excess)[-1]], 0.0)


def onto_capped_simplex(point: Array, cap: float) -> Array:
    """The nearest point with entries >= 0 whose sum is at most ``cap`` > 0."""
    clipped = np.maximum(point, 0.0)
    return clipped if clipped.sum() <= cap else onto_simplex(point, cap)


def onto_box_of_sum(point: Array, low: Array, high: Array, total: float) -> Array:
    """The nearest point with low <= x <= high and sum ``total``, low.sum() <= total <= high.sum():
    one shift of all.

    The sum of clip(point - shift) falls with the shift, piecewise linearly: its pieces end where an
    entry meets an end.
    """
    ends = np.sort(np.concatenate([point - high, point - low]))

    def shifted(by: float) -> Array:
        return np.minimum(np.maximum(point - by, low), high)  # np.clip takes three times as long

    def reached(k: int) -> float:
        return float(shifted(ends[k]).sum())

    first, last = 0, ends.size - 1
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if reached(middle) >= total else (first, middle)
    above, below = reached(first), reached(last)
    share = (above - total) / (above - below) if above > max(total, below) else 0.0
    return shifted(ends[first] + min(share, 1.0) * (ends[last] - ends[first]))
