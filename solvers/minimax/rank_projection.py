"""Projection onto the dual weights of rank-weighted means, a permutahedron, by one sort and pooling
of violators.

A positively homogeneous objective that is linear on each order of the clients (AFL, rank-weighted
means) is the support function of B = conv{dual_weights(f) : f}, the permutahedron of its weights
(with client weights p, the core of a distorted probability).
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.aggregation import AFL, Objective, RankWeighted
from fairfl.theory.aggregation.calculus import Transformed
from fairfl.theory.numerics.projections import onto_permutahedron


def weighs_by_rank(objective: Objective) -> bool:
    """Whether A is AFL, a rank-weighted mean, or made from one by translation, scaling or
    perspective.
    """
    inner = objective.inner if isinstance(objective, Transformed) else objective
    return isinstance(inner, (AFL, RankWeighted))


def client_shares(objective: Objective, n: int) -> Array:
    """The client weights p (n,), 1/n each unless given."""
    given = objective.client_weights
    return np.full(n, 1.0 / n) if given is None else np.asarray(given)


def shift(objective: Objective, n: int) -> Array:
    """s (n,) such that A(f) = max over B of λ.(f - s)."""
    return np.zeros(n) + (objective.shift if isinstance(objective, Transformed) else 0.0)


def project(objective: Objective, target: Array) -> Array:
    """The λ in B nearest to ``target`` (n,), in the norm (Σ_i λ_i² / p_i)^(1/2)."""
    n = len(target)
    start = shift(objective, n)
    return onto_permutahedron(
        target,
        client_shares(objective, n),
        lambda ranks: np.asarray(objective.dual_weights(start + ranks)),
    )
