"""Closed forms of normal clients against fairfl's solver."""

from fractions import Fraction

import pytest
from scipy import stats

import fairfl as ff
from fairfl.claims.exact import phi
from fairfl.claims.fedfb.normal_clients import NormalClient, ends


@pytest.mark.parametrize("x", [-3.0, 0.0, 0.7])
def test_phi_is_the_normal_distribution_function(x):
    assert float(phi(Fraction(x)).mid()) == pytest.approx(stats.norm.cdf(x), rel=1e-13)


@pytest.mark.parametrize("sd", [3, 70])
def test_the_least_difference_is_the_smallest_disparity(sd):
    first = NormalClient((Fraction(-1, 4), Fraction(1, 4)), Fraction(sd))
    second = NormalClient((Fraction(3), Fraction(-1)), Fraction(1))
    low, high = (float(v.mid()) for v in ends(first, second))
    federation = ff.Federation.normal([[-0.25, 0.25], [3, -1]], [sd, 1.0], 0.5)
    assert ff.min_disparity(federation, "lft_ensemble").disparity == pytest.approx(
        max(low, 0.0), abs=1e-12
    )
    assert high > low
    assert abs(float(first.g(first.root).mid())) < 1e-15
