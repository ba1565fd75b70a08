"""Small concave programmes in a batch, against HiGHS and the optimality conditions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from fairfl.solvers.numerics.interior_point import maximise

ONE = np.ones(1)
INTEGERS = st.integers(-4, 4).map(float)


@st.composite
def programmes(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Gains (B, n), rows (B, m, n), and limits (B, m) that admit x = 0; |x| <= 1 goes with them."""
    count, n, extra = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, 5))
    numbers = st.lists(INTEGERS, min_size=count * n * (extra + 1), max_size=count * n * (extra + 1))
    table = np.array(draw(numbers)).reshape(count, extra + 1, n)
    limits = np.array(
        draw(st.lists(st.integers(0, 4).map(float), min_size=count * extra, max_size=count * extra))
    )
    return table[:, 0], table[:, 1:], limits.reshape(count, extra)


@given(programmes())
def test_linear_programmes_as_highs_solves_them(problem: tuple[Any, Any, Any]) -> None:
    gain, rows, limits = problem
    x = maximise(gain, rows, limits, -ONE, ONE)[0]
    assert (np.einsum("bmn,bn->bm", rows, x) <= limits + 1e-9).all() and (abs(x) <= 1 + 1e-9).all()
    for b in range(len(gain)):
        exact = optimize.linprog(
            -gain[b], A_ub=rows[b], b_ub=limits[b], bounds=(-1, 1), method="highs"
        )
        assert gain[b] @ x[b] == pytest.approx(-exact.fun, abs=1e-9)


@given(programmes(), st.data())
def test_no_feasible_point_is_better(problem: tuple[Any, Any, Any], data: st.DataObject) -> None:
    # a concave objective is maximal at x iff its slope there points out of every feasible direction
    gain, rows, limits = problem
    count, n = gain.shape
    root = np.array(
        data.draw(st.lists(INTEGERS, min_size=count * n * n, max_size=count * n * n))
    ).reshape(count, n, n)
    curvature = np.einsum("bij,bik->bjk", root, root) / 4
    x = maximise(gain, rows, limits, -ONE, ONE, curvature)[0]
    assert (np.einsum("bmn,bn->bm", rows, x) <= limits + 1e-9).all() and (abs(x) <= 1 + 1e-9).all()
    slope = gain - np.einsum("bij,bj->bi", curvature, x)
    for b in range(count):
        best = optimize.linprog(
            -slope[b], A_ub=rows[b], b_ub=limits[b], bounds=(-1, 1), method="highs"
        )
        # complementarity of 1e-12: where a row is met with no force, x is off by its root
        assert -best.fun - slope[b] @ x[b] <= 1e-5


def test_programmes_of_any_scale() -> None:
    # the unit of the objective does not matter, nor do rows that say nothing
    rows, limits = np.array([[[1.0, 1], [0, 0]]]), np.array([[1.5, 0]])
    for scale in (1e-12, 1.0, 1e9):
        x = maximise(scale * np.array([[2.0, 1.0]]), rows, limits, -ONE, ONE)[0]
        np.testing.assert_allclose(x, [[1.0, 0.5]], atol=1e-9)


@given(programmes(), st.integers(1, 1000), st.data())
def test_a_programme_without_a_point_ends_and_leaves_the_others(
    problem: tuple[Any, Any, Any], distance: int, data: st.DataObject
) -> None:
    # x_1 <= -1/apart and -x_1 <= 0 exclude each other; warnings are errors
    gain, rows, limits = problem
    count, n = gain.shape
    lost = data.draw(st.integers(0, count - 1))
    two = np.zeros((count, 2, n))
    two[lost, :, 0] = 1.0, -1.0
    beyond = np.zeros((count, 2))
    beyond[lost, 0] = -1.0 / distance
    both = np.concatenate([rows, two], axis=1), np.append(limits, beyond, axis=1)
    x = maximise(gain, *both, -ONE, ONE)[0]
    assert np.isfinite(x).all()
    others = np.arange(count) != lost
    alone = maximise(gain, rows, limits, -ONE, ONE)[0]
    value, alone = ((gain * y)[others].sum(axis=1) for y in (x, alone))
    np.testing.assert_allclose(value, alone, atol=1e-9)


def test_rows_of_rounding_are_no_constraints() -> None:
    faint = np.array([[[1e-14, -3e-14], [-1e-14, 3e-14]]])  # scaled up they would be an equation
    (x,), _ = maximise(np.ones((1, 2)), faint, np.zeros((1, 2)), -ONE, ONE)
    assert x == pytest.approx([1.0, 1.0], abs=1e-9)
