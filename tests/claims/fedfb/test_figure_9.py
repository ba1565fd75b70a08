"""The integrals and slopes of figure 9's dual bounds, against quadrature in floats."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.integrate import quad
from scipy.stats import norm

from fairfl.claims.fedfb.figure_9 import MEANS, SHARES, gain, rate, spare

SOME = [(SHARES[0], 0, -1.5), (SHARES[1], 1, 0.25), (SHARES[3], 0, 2.0)]


@pytest.mark.parametrize(("q", "a", "t"), SOME)
def test_integrals(q, a, t):
    weight = np.array([float(v) if a else 1 - float(v) for v in q])

    def density(x):
        return weight @ norm.pdf(x - np.array([m[a] for m in MEANS]))

    whole = quad(lambda x: np.tanh(x / 2) * density(x) / 3, t, 16, epsabs=1e-11)[0]
    assert abs(float(gain(q, a, arb(t)).mid()) - whole) < 1e-8
    upper = quad(density, t, 16, epsabs=1e-11)[0] / weight.sum()
    assert abs(float(rate(q, a, arb(t)).mid()) - upper) < 1e-9


@pytest.mark.parametrize("client", [0, 1, 2])
def test_a_box_holds_its_points(client):
    given = {"q": SHARES[2], "client": client, "price": Fraction(1, 7)}
    low, high = arb("0.05"), arb("0.09")
    box = spare([low.union(high)], most=Fraction(1), **given)
    for k in range(5):
        point = spare([low + (high - low) * k / 4], most=Fraction(1), **given)
        assert box.overlaps(point)
        assert point.rad() < box.rad()
