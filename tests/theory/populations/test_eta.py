"""η and its inverse."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import CAUCHY, PROBIT, eighths, etas

from fairfl.theory.populations.eta import Eta, Logistic, Monotone

X = np.linspace(-6, 6, 49)


@given(etas())
def test_the_inverse_undoes_eta(eta: Eta) -> None:
    level = eta(X)
    back = eta.inverse(level, 1 - level)
    inside = (level > 0.1001) & (level < 0.8999)
    np.testing.assert_allclose(back[inside], X[inside], atol=1e-9)


@given(etas())
def test_eta_increases_within_0_and_1(eta: Eta) -> None:
    level = eta(X)
    assert ((level >= 0) & (level <= 1)).all() and (np.diff(level) >= 0).all()
    assert (np.diff(eta(np.linspace(-1, 1, 9))) > 0).all()
    if isinstance(eta, Logistic):
        formula = 1 / (1 + np.exp(-eta.slope * X - eta.intercept))
        np.testing.assert_allclose(level, formula, rtol=1e-14)


@given(st.integers(1, 280), st.sampled_from([0.5, 1.0, 2.0]), eighths(-1, 1))
def test_the_logistic_inverse_reaches_both_ends(power: int, slope: float, intercept: float) -> None:
    # level 10^-k and its complement are given apart, so that log-odds ±k·log 10 keep their digits
    eta, tiny = Logistic(slope, intercept), 10.0**-power
    with mpmath.workdps(400):
        p = mpmath.mpf(tiny)
        odds = float(mpmath.log(p) - mpmath.log(1 - p))
    low = float(eta.inverse(tiny, 1 - tiny))
    high = float(eta.inverse(1 - tiny, tiny))
    assert low == pytest.approx((odds - intercept) / slope, rel=1e-14, abs=1e-14)
    assert high == pytest.approx((-odds - intercept) / slope, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize(
    ("eta", "low", "high"),
    [
        (Logistic(), 0.0, 1.0),
        (CAUCHY, 0.0, 1.0),
        (Logistic(3.0, 2.0), 0.0, 1.0),
        (PROBIT, 0.1, 0.9),
    ],
)
def test_levels_out_of_range_are_infinite(eta: Eta, low: float, high: float) -> None:
    level = np.array([low - 0.5, low, high, high + 0.5])
    assert eta.inverse(level, 1 - level).tolist() == [-np.inf, -np.inf, np.inf, np.inf]


def test_logistics_compare_by_value() -> None:
    assert Logistic(2, 1) == Logistic(2.0, 1.0) and hash(Logistic(2, 1)) == hash(Logistic(2.0, 1.0))
    assert Logistic(2, 1) != Logistic(2, 0) and Logistic() != PROBIT


def test_monotone_passes_scalars_and_arrays() -> None:
    eta = Monotone(lambda x: 1 / (1 + np.exp(-x)), lambda p: np.log(p) - np.log1p(-p))
    assert float(eta(0.0)) == 0.5
    assert eta.inverse(np.array([[0.5, 0.25]]), np.array([[0.5, 0.75]])).shape == (1, 2)
    assert float(eta.inverse(0.5, 0.5)) == 0.0
