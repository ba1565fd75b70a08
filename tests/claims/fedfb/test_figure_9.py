"""The integrals and the maximum of figure 9's dual bounds, against quadrature in floats."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.integrate import quad
from scipy.stats import norm

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
