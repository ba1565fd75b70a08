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


def onto_capped_simplex(point: Array, cap: Array | float) -> Array:
    """The nearest points (..., L) with entries >= 0 whose sum is at most ``cap`` (...) > 0."""
    clipped = np.maximum(point, 0.0)
    is_above = clipped.sum(-1) > cap
    for at in map(tuple, np.argwhere(is_above)):
        clipped[at] = onto_simplex(point[at], float(np.broadcast_to(cap, is_above.shape)[at]))
    return clipped


def onto_box_of_sum(point: Array, low: Array, high: Array, total: float) -> Array:
    """The nearest points (..., L) with low <= x <= high and sum ``total``, between the sums of
    ``low`` and of ``high``: one shift of all entries.

    The sum of clip(point - shift) falls with the shift, piecewise linearly: its pieces end where an
    entry meets an end.
    """
    ends = np.sort(np.concatenate([point - high, point - low], -1), -1)

    def shifted(by: Array) -> Array:
        return np.minimum(np.maximum(point - by, low), high)  # np.clip takes three times as long

    def end(k: Array) -> Array:
        return np.take_along_axis(ends, k, -1)

    def reached(k: Array) -> Array:
        return shifted(end(k)).sum(-1, keepdims=True)

    first = np.zeros((*point.shape[:-1], 1), np.int64)
    last = first + (ends.shape[-1] - 1)
    while (last - first > 1).any():
        middle = (first + last) // 2
        is_above = (reached(middle) >= total) | (middle == first)
        first, last = np.where(is_above, middle, first), np.where(is_above, last, middle)
    above, below = reached(first), reached(last)
    is_between = above > np.maximum(total, below)
    share = np.where(is_between, above - total, 0.0) / np.where(is_between, above - below, 1.0)
    return shifted(end(first) + np.minimum(share, 1.0) * (end(last) - end(first)))
