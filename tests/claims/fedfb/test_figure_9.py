"""The integrals and slopes of figure 9's dual bounds, against quadrature in floats."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.integrate import quad
from scipy.stats import norm

from fairfl.claims.fedfb.figure_9 import MEANS, gain, rate, spare


@pytest.mark.parametrize(("a", "t"), [(0, -1.5), (1, 0.25), (0, 2.0)])
def test_integrals(a, t):
    def density(x):
        return norm.pdf(x - np.array([m[a] for m in MEANS])).mean()

    whole = quad(lambda x: np.tanh(x / 2) * density(x) / 2, t, 16, epsabs=1e-11)[0]
    assert abs(float(gain(a, arb(t)).mid()) - whole) < 1e-8
    assert abs(float(rate(a, arb(t)).mid()) - quad(density, t, 16, epsabs=1e-11)[0]) < 1e-9


def test_a_box_holds_its_points():
    low, high = arb("0.05"), arb("0.09")
    box = spare([low.union(high)], Fraction(1, 7), Fraction(1))
    for k in range(5):
        point = spare([low + (high - low) * k / 4], Fraction(1, 7), Fraction(1))
        assert box.overlaps(point)
        assert point.rad() < box.rad()
