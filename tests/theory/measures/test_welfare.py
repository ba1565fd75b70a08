"""Mean utility, prices, the price of fairness: definitions, limits, bounds on random sets."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairfl.theory.measures import welfare as bargaining

ALPHAS = st.one_of(
    st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf, 1 - 1e-9, 1 + 1e-9, 1e-300, 1e4]),
    st.floats(0, 20),
    st.floats(0.99, 1.01),
)
UTILITIES = hnp.arrays(np.float64, st.integers(1, 6), elements=st.floats(1e-3, 1e3))


def exact(u, alpha):
    """The definition, in 60 digits."""
    with mp.workdps(60):
        u, n = [mp.mpf(x) for x in u], len(u)
        if alpha == mp.inf:
            return min(u)
        if alpha == 1:
            return mp.exp(mp.fsum(mp.log(x) for x in u) / n)
        power = 1 - mp.mpf(alpha)
        return (mp.fsum(x**power for x in u) / n) ** (1 / power)


@given(UTILITIES, ALPHAS)
def test_mean_utility_is_its_definition(u, alpha):
    assert bargaining.mean_utility(u, alpha) == pytest.approx(float(exact(u, alpha)), rel=1e-12)


def test_names_and_zeros():
    u, rows = np.array([1.0, 4.0]), np.random.default_rng(1).uniform(0, 2, (3, 5, 4))
    for alpha, named, with_zero in ((0, 2.5, 2), (1, 2, 0), (2, 1.6, 0), (np.inf, 1, 0)):
        assert bargaining.mean_utility(u, alpha) == pytest.approx(named)
        assert bargaining.mean_utility([0.0, 4.0], alpha) == pytest.approx(with_zero)
    assert bargaining.mean_utility([0.0, 4.0], 0.5) == pytest.approx(1)
    assert bargaining.mean_utility([0.0, 0.0], 0.5) == 0
    assert bargaining.mean_utility(rows, 2).shape == (3, 5)


def test_no_power_overflows():
    u = np.array([[1e200, 1e-200, 1.0], [1e300, 1e300, 1e300]])
    for alpha in (0.5, 1 - 1e-6, 1, 1 + 1e-6, 3, 1e5):
        expected = [float(exact(row, alpha)) for row in u]
        assert bargaining.mean_utility(u, alpha) == pytest.approx(expected, rel=1e-9)


def test_price_of_fairness():
    prices = bargaining.price_of_fairness([[1.0, 2.0], [2.0, 2.0]], 4.0)
    assert prices.tolist() == [0.25, 0.0]
    with pytest.raises(ValueError, match="best_total must be at least the total"):
        bargaining.price_of_fairness([3.0, 2.0], 4.0)
