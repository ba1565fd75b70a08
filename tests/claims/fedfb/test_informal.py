"""The bound of fedfb/corollary-2 against the least disparity on a grid of thresholds."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from fairfl.claims.fedfb import informal

BOX = [(0.01, 0.1), (-1.0, 0.0), (0.0, 1.0), (-1.0, -0.5), (0.5, 1.0)]


def least(s, m, k, n, j, turned):
    """4 |MD| over a grid of the clients' thresholds, of which it is a sum."""
    means = np.array([(m + k, m) if turned else (m, m + k), (n + j, n)])
    t = np.linspace(0, (means[:, 1] - means[:, 0]) / 2, 41)[..., None]
    rates = norm.cdf(([1, -1] * t[..., None] - means[:, ::-1]) * np.array([[s], [1.0]]))
    return (rates[..., 0] - rates[..., 1]).sum(2).min(0).sum()


@pytest.mark.parametrize("turned", [False, True])
def test_the_bound_is_below_every_disparity_and_close_to_the_least(turned):
    gaps = []
    for s, m, k, n, j in product(*BOX):
        bound = informal.lower(Fraction(s), Fraction(k), Fraction(n), Fraction(j), turned)
        gaps.append(least(s, m, k, n, j, turned) - float(bound.mid()))
    assert min(gaps) >= 0
    assert min(gaps) < 2e-3


def test_the_bound_is_least_at_the_vertex():
    values = {
        (s, k, n, j): float(
            informal.lower(Fraction(s), Fraction(k), Fraction(n), Fraction(j)).mid()
        )
        for s, k, n, j in product(*(np.linspace(*BOX[axis], 4).tolist() for axis in (0, 2, 3, 4)))
    }
    assert min(values, key=values.__getitem__) == (0.1, 1.0, -1.0, 0.5)
