"""Projection onto a permutahedron, the dual weights of a rank-weighted mean: one sort and pooling
of violators.

A positively homogeneous objective that is linear on each order of the clients (AFL, rank-weighted
means) is the support function of B = conv{dual_weights(f) : f}, the permutahedron of its weights
(with client weights p, the core of a distorted probability).
"""

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.theory.aggregation import AFL, Objective, RankWeighted
from fairfl.theory.aggregation.calculus import Transformed


def weighs_by_rank(
    objective: Objective, kinds: type | tuple[type, ...] = (AFL, RankWeighted)
) -> bool:
    """Whether A is AFL or a rank-weighted mean, or one shifted, scaled or in perspective."""
    return isinstance(getattr(objective, "inner", objective), kinds)


def client_shares(objective: Objective, n: int) -> Array:
    """The client weights p (n,), 1/n each unless given, and of AFL, which does not use them."""
    even = objective.client_weights is None or weighs_by_rank(objective, AFL)
    return np.full(n, 1.0 / n) if even else np.asarray(objective.client_weights)


def shift(objective: Objective, n: int) -> Array:
    """s (n,) such that A(f) = max over B of λ.(f - s)."""
    return np.zeros(n) + (objective.shift if isinstance(objective, Transformed) else 0.0)


def project(objective: Objective, target: Array) -> Array:
    """The λ in B nearest to ``target`` (n,), in the norm (Σ_i λ_i² / p_i)^(1/2).

    With y = target/p, λ = p (y - x), where x is nearest to y - v/p among those in the order of y, v
    in B the vertex for that order, by isotonic regression: λ/p decreases along each pooled block,
    so that λ is in B, and λ.x = max over B.
    """
    n = len(target)
    p = client_shares(objective, n)
    y = target / p
    y -= p @ y  # all of B has one sum, so that a common shift of y is lost on it; digits are not
    order = np.argsort(-y, kind="stable")
    ranks = np.empty(n)
    ranks[order] = np.arange(n, 0, -1.0)
    vertex = np.asarray(objective.dual_weights(shift(objective, n) + ranks))
    z = (y - vertex / p)[order]
    x = np.empty(n)
    x[order] = scipy.optimize.isotonic_regression(z, weights=p[order], increasing=False).x
    nearest = p * (y - x)
    return nearest + p * (vertex.sum() - nearest.sum())  # rounding of the sum
