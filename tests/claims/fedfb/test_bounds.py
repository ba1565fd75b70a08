"""Bounds of figure 9 and corollary 2 against quadrature, and against grids."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb
from scipy.integrate import quad
from scipy.stats import norm

from fairfl.claims.fedfb import informal
from fairfl.claims.fedfb.figure_9 import MEANS, gain, lagrangian, rate


@pytest.mark.parametrize(("a", "t"), [(0, -1.5), (1, 0.25), (0, 2.0)])
def test_integrals(a, t):
    def density(x):
        return norm.pdf(x - np.array([m[a] for m in MEANS])).mean()

    whole = quad(lambda x: np.tanh(x / 2) * density(x) / 2, t, 16, epsabs=1e-11)[0]
    assert abs(float(gain(a, arb(t)).mid()) - whole) < 1e-8
    assert abs(float(rate(a, arb(t)).mid()) - quad(density, t, 16, epsabs=1e-11)[0]) < 1e-9


def test_the_lagrangian_is_largest_at_minus_the_price():
    price = Fraction(1, 7)
    values = {k: float(lagrangian(Fraction(k, 70), price).mid()) for k in range(-30, 31, 5)}
    assert max(values, key=values.__getitem__) == -10
    assert sorted(values.values())[-1] - sorted(values.values())[-2] > 1e-4


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
