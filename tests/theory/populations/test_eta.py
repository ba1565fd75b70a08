"""η and its inverse."""

import numpy as np
import pytest
from hypothesis import given
from scipy.special import logit
from strategies import CAUCHY, PROBIT, etas

from fairfl.theory.populations.eta import Eta, Logistic, Monotone

X = np.linspace(-6, 6, 49)


@given(etas())
def test_the_inverse_undoes_eta(eta: Eta) -> None:
    level = eta(X)
    back = eta.at_odds(logit(level))
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


@pytest.mark.parametrize("eta", [Logistic(), PROBIT, CAUCHY, Logistic(3.0, 2.0)])
def test_levels_out_of_range_are_infinite(eta: Eta) -> None:
    assert eta.at_odds(np.array([-np.inf, np.inf])).tolist() == [-np.inf, np.inf]


def test_a_bounded_eta_has_infinite_inverses_beyond_its_bounds() -> None:
    out = PROBIT.at_odds(logit(np.array([0.05, 0.09, 0.5, 0.91, 0.95])))
    assert out[[0, 1, 3, 4]].tolist() == [-np.inf, -np.inf, np.inf, np.inf]
    assert out[2] == pytest.approx(0.0, abs=1e-15)


def test_logistics_compare_by_value() -> None:
    assert Logistic(2, 1) == Logistic(2.0, 1.0) and hash(Logistic(2, 1)) == hash(Logistic(2.0, 1.0))
    assert Logistic(2, 1) != Logistic(2, 0) and Logistic() != PROBIT


def test_monotone_passes_scalars_and_arrays() -> None:
    eta = Monotone(lambda x: 1 / (1 + np.exp(-x)), lambda p: np.log(p) - np.log1p(-p))
    assert float(eta(0.0)) == 0.5
    assert eta.at_odds(np.array([[0.0, -1.0]])).shape == (1, 2)
    assert float(eta.at_odds(0.0)) == 0.0
