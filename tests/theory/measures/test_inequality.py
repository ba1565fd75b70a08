"""Social-evaluation functions and indices of inequality: p-FFL's formulas, and the vectors they
make no sense for.
"""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.aggregation import RankWeighted
from fairfl.theory.measures import inequality, uniformity
from fairfl.theory.measures.inequality import (
    absolute_inequality,
    gini_index,
    relative_inequality,
    social_evaluation,
)

UTILITIES = st.lists(st.floats(-5, 5), min_size=1, max_size=20).map(np.array)
WEIGHTS = [
    RankWeighted.gini(),
    RankWeighted.linear(),
    RankWeighted.harmonic(),
    RankWeighted.cvar(0.6),
]


def printed_gini_evaluation(u):
    """p-FFL, eq. (4): (1/n^2) sum_i (2i-1) phi(u)_i, phi descending."""
    ranked = np.sort(u)[::-1]
    return sum((2 * i - 1) * x for i, x in enumerate(ranked, start=1)) / len(u) ** 2


def positive(u):
    return u - u.min() + 0.25


@given(u=UTILITIES)
def test_the_printed_formulas(u):
    assert social_evaluation(u) == pytest.approx(printed_gini_evaluation(u), abs=1e-12)
    v = positive(u)
    # eq. (3)
    assert gini_index(v) == pytest.approx(1 - printed_gini_evaluation(v) / v.mean(), abs=1e-12)
    pairs = np.abs(v[:, None] - v).mean() / (2 * v.mean())
    assert gini_index(v) == pytest.approx(pairs, abs=1e-12)
    assert gini_index(v) == pytest.approx(uniformity.gini(v), abs=1e-14)


@pytest.mark.parametrize("weights", WEIGHTS, ids=repr)
@given(u=UTILITIES, data=st.data())
def test_what_an_evaluation_is(weights, u, data):
    n = len(u)
    level = social_evaluation(u, weights)
    assert u.min() - 1e-12 <= level <= u.mean() + 1e-12
    # the worst first
    assert level == pytest.approx(np.sort(u) @ weights.rank_weights(n), abs=1e-12)
    assert social_evaluation(u + 2.0, weights) == pytest.approx(level + 2.0, abs=1e-12)
    gap = absolute_inequality(u, weights)
    assert gap == pytest.approx(u.mean() - level, abs=1e-12)
    assert absolute_inequality(u - 7.0, weights) == pytest.approx(gap, abs=1e-12)
    v = positive(u)
    assert relative_inequality(3 * v, weights) == pytest.approx(
        relative_inequality(v, weights), abs=1e-12
    )
    assert -1e-15 <= relative_inequality(v, weights) <= 1
    i, j = (data.draw(st.integers(0, n - 1)) for _ in range(2))
    moved = u.copy()
    # from the better-off, if u_i > u_j, else back
    amount = data.draw(st.floats(0, 1)) * (u[i] - u[j]) / 2
    moved[i] -= amount
    moved[j] += amount
    assert social_evaluation(moved, weights) >= level - 1e-12
    assert absolute_inequality(moved, weights) <= gap + 1e-12


def test_ends_of_the_range():
    assert gini_index([2.0, 2.0, 2.0]) == 0
    assert absolute_inequality([-2.0, -2.0]) == 0
    assert gini_index([0.0, 0.0, 0.0, 8.0]) == 0.75  # 1 - 1/n
    assert gini_index([-1.0, 3.0]) == 1.0  # a negative utility: no longer below 1 - 1/n
    assert gini_index([-1.0, 2.0]) > 1
    # p-FFL after eq. (5): the lowest only
    assert social_evaluation([3.0, 1.0, 2.0], [1.0, 0.0, 0.0]) == 1.0
    assert relative_inequality([1.0, 3.0], [0.5, 0.5]) == 0.0
    u = np.array([1.0, 1.0 + 1e-12, 1.0])
    # the naive 1 - G/mean has no digit here
    assert gini_index(u) == pytest.approx((u[1] - 1) * 2 / 9, rel=1e-9)
    # 2/9 of one, where the mean is rounded to eighths
    assert absolute_inequality([1e15, 1e15 + 1, 1e15]) == pytest.approx(2 / 9, rel=1e-15)


def test_leading_axes():
    u = np.random.default_rng(2).random((2, 3, 5))
    for function in (social_evaluation, absolute_inequality, relative_inequality, gini_index):
        whole = function(u)
        assert whole.shape == (2, 3)
        assert [function(row) for row in u[1]] == pytest.approx(list(whole[1]), rel=1e-13)


@pytest.mark.parametrize(
    "u", [[0.0, 0.0], [-1.0, 1.0], [-3.0, 1.0], [[1.0, 1.0], [-2.0, 1.0]]], ids=str
)
def test_relative_indices_need_a_positive_mean(u):
    for function in (gini_index, relative_inequality):
        with pytest.raises(ValueError, match="utilities must have a mean > 0 .* got a mean of"):
            function(u)
    assert np.all(absolute_inequality(u) >= 0)


def test_the_examples_of_the_docstring():
    assert doctest.testmod(inequality) == doctest.TestResults(failed=0, attempted=2)
