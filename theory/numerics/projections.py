"""Euclidean projections onto the simplex, boxes of a given sum and permutahedra, and soft
thresholds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from fairfl._support.checks import Array


def soft_threshold(values: Array, margin: Any) -> Array:
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

    def reached(k: int) -> float:
        return float(np.clip(point - ends[k], low, high).sum())

    first, last = 0, ends.size - 1
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if reached(middle) >= total else (first, middle)
    above, below = reached(first), reached(last)
    share = (above - total) / (above - below) if above > max(total, below) else 0.0
    return np.clip(point - (ends[first] + min(share, 1.0) * (ends[last] - ends[first])), low, high)


def onto_permutahedron(point: Array, p: Array, vertex_of: Callable[[Array], Array]) -> Array:
    """The λ nearest to ``point`` (n,), in the norm (Σ_i λ_i² / p_i)^(1/2), in the convex hull B of
    all vertices.

    p : (n,) client weights.  vertex_of : ranks (n,), n for the first -> the vertex (n,) for that
        order.

    With y = point/p: the x nearest to y - v/p among those in the order of y, where v in B is the
    vertex for that order, found by isotonic regression with weights p, gives λ = p (y - x). It lies
    in B: λ/p decreases along each pooled block, so that no set of clients gets more than the first
    ones of the same mass, and those get no more than their ranks weigh. And λ.x = max over B, so
    that it is the projection.
    """
    n = len(point)
    y = point / p
    y -= p @ y  # all of B has one sum, so that a common shift of y is lost on it; digits are not
    order = np.argsort(-y, kind="stable")
    ranks = np.empty(n)
    ranks[order] = np.arange(n, 0, -1.0)
    vertex = vertex_of(ranks)
    z = (y - vertex / p)[order]
    x = np.empty(n)
    x[order] = scipy.optimize.isotonic_regression(z, weights=p[order], increasing=False).x
    nearest = p * (y - x)
    return nearest + p * (vertex.sum() - nearest.sum())  # rounding of the sum
