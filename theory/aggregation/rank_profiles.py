"""Profiles of weights by rank as functions of n: Gini, linear, geometric, harmonic, CVaR.

p-FFL's "ascending sorting operator" reads each of them backwards.
"""

import numpy as np

from fairfl._support.checks import Array


def arithmetic(n: int, p1: float, d: float) -> Array:
    """(p1 + (n-k) d) / sum, k = 1..n on descending losses: p-FFL, eq. (7), normalised as its
    section 3.2 says.

    Only d / p1 matters (the paper says: only the magnitude of their difference, which (1, 2) and
    (2, 3) refute).
    """
    raw = p1 + d * np.arange(n - 1, -1, -1.0)
    return raw / raw.sum() if raw.any() else np.full(n, 1.0 / n)  # one client and p1 = 0


def gini(n: int) -> Array:
    """(2(n-k)+1) / n^2: the weights of the Gini social-evaluation function, p-FFL, eq. (4)."""
    return arithmetic(n, 1.0, 2.0)


def linear(n: int) -> Array:
    """2(n-k+1) / (n(n+1)): p-FFL's arithmetic weights "without the first gap".

    The paper prints p_k = 2(k+1)/(n(n+1)), which sums to one for k = 0..n-1, not for its own k =
    1..n of (7).
    """
    return arithmetic(n, 1.0, 1.0)


def geometric(n: int, z: float) -> Array:
    """z^(k-1) / sum_j z^(j-1), k = 1..n: p-FFL, eq. (8), whose k must run from 0 (from 1 the sum is
    z).

    A sum of positive terms: no cancellation, unlike (z-1)/(z^n-1) near z = 1, where the weights
    tend to 1/n.
    """
    raw = np.float64(z) ** np.arange(n)
    return raw / raw.sum()


def harmonic(n: int) -> Array:
    """H_(n-k+1) / sum_j H_j, with H_k = 1 + 1/2 + ... + 1/k: p-FFL, eq. (9), normalised."""
    raw = np.cumsum(1.0 / np.arange(1, n + 1))[::-1]
    return raw / raw.sum()


def cvar(n: int, level: float) -> Array:
    """Even weights on the worst share 1 - level of the clients, one of them in part if need be."""
    tail = n * (1 - level)
    raw = np.clip(tail - np.arange(n), 0.0, 1.0)
    return raw / raw.sum()
