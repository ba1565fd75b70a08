"""One round on quadratics of two and more groups: the terms of theorems 1 and 2, and sharp bounds
of what is left out.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.bounds import gap_bounds, relative_gap_bounds, round_step

SEEDS = st.integers(0, 2**32 - 1)
L, D = 1.5, 3


def hessians(rng, mu, count=2):
    """Symmetric, of eigenvalues in [mu, L]."""
    found = []
    for _ in range(count):
        turn = np.linalg.qr(rng.normal(size=(D, D)))[0]
        found.append(turn @ np.diag(rng.choice([mu, L, rng.uniform(mu, L)], D)) @ turn.T)
    return np.array(found)


def gaps(g, H, s):
    """benefit_i - benefit_j of L_i(w - s), L_i of gradient g_i at w and Hessian H_i."""
    gain = g @ s - 0.5 * np.einsum("d,nde,e->n", s, H, s)
    return gain[:, None] - gain


@given(seed=SEEDS, normalised=st.booleans(), layers=st.sampled_from([None, [1, 2]]))
def test_a_round_is_the_weighted_sum_of_normalised_gradients(seed, normalised, layers):
    rng = np.random.default_rng(seed)
    c, w = rng.normal(size=(3, D)), rng.normal(size=D) + 3
    p = rng.dirichlet(np.ones(3))
    g, eta = w - c, 1e-6  # f_k = ||w - c_k||^2 / 2
    d = g.copy()
    if normalised:
        for part in [slice(0, D)] if layers is None else [slice(0, 1), slice(1, 3)]:
            d[:, part] /= np.sqrt((g[:, part] ** 2).sum(1, keepdims=True))
    moved = w - eta * p @ d
    assert round_step(g, eta, p, normalised=normalised, layers=layers) == pytest.approx(
        w - moved, abs=1e-15
    )


@given(seed=SEEDS, mu=st.sampled_from([-L, 0.0, 0.7, L]), groups=st.integers(2, 4))
def test_gaps_stay_within_their_bounds(seed, mu, groups):
    rng = np.random.default_rng(seed)
    g, s, other = rng.normal(size=(groups, D)), rng.normal(size=D), rng.normal(size=D)
    H = hessians(rng, mu, groups)
    low, high = gap_bounds(g, s, L, mu)
    gap = gaps(g, H, s)
    assert (low - 1e-12 <= gap).all() and (gap <= high + 1e-12).all()
    wide = relative_gap_bounds(g, s, other, L, mu)
    low, high = relative_gap_bounds(g, s, other, L, mu, family="quadratic")
    gap -= gaps(g, H, other)
    assert (low - 1e-12 <= gap).all() and (gap <= high + 1e-12).all()
    assert (wide[0] <= low + 1e-12).all() and (high <= wide[1] + 1e-12).all()
    if mu == L:  # one curvature: exact
        assert low == pytest.approx(gap, abs=1e-12) and high == pytest.approx(gap, abs=1e-12)


@given(seed=SEEDS, mu=st.sampled_from([-L, 0.0, 0.7]))
def test_quadratics_attain_the_bounds(seed, mu):
    """H_1 - H_2 with eigenvalues +-(L - mu) along those of ss' - s's''."""
    rng = np.random.default_rng(seed)
    g, s, other = rng.normal(size=(2, D)), rng.normal(size=D), rng.normal(size=D)
    for second in (np.zeros(D), other):
        values, turn = np.linalg.eigh(np.outer(s, s) - np.outer(second, second))
        up = turn @ np.diag(np.where(values > 0, L, mu)) @ turn.T
        down = turn @ np.diag(np.where(values > 0, mu, L)) @ turn.T
        H = np.array([up, down])
        gap = (gaps(g, H, s) - gaps(g, H, second))[0, 1]
        bounds = (
            relative_gap_bounds(g, s, second, L, mu, family="quadratic")
            if second.any()
            else gap_bounds(g, s, L, mu)
        )
        assert gap == pytest.approx(bounds[0][0, 1], abs=1e-12)


def test_losses_that_are_no_quadratics_leave_the_bounds_of_quadratics():
    """Why there are two families: at s and -s the difference of two quadratics is the same; here it
    is -1/2 and 1/2.
    """

    def first(x):  # curvature 1 for x < 0, 0 above: 1-smooth, convex
        return min(x, 0.0) ** 2 / 2 + x

    def second(x):
        return max(x, 0.0) ** 2 / 2 + x

    s, other = np.array([1.0]), np.array([-1.0])
    gain = [(f(0.0) - f(-s[0])) - (f(0.0) - f(-other[0])) for f in (first, second)]
    gap = gain[0] - gain[1]
    g = np.ones((2, 1))
    quadratic = relative_gap_bounds(g, s, other, 1.0, 0.0, family="quadratic")
    smooth = relative_gap_bounds(g, s, other, 1.0, 0.0)
    assert quadratic[0][0, 1] == quadratic[1][0, 1] == 0.0
    assert gap == smooth[0][0, 1] == -1.0
