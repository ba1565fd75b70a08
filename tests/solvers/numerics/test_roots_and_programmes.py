"""Numerical methods on small problems: roots, quadratic programmes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from fairfl.solvers.numerics.interior_point import maximise
from fairfl.solvers.numerics.roots import increasing_root

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


@given(programmes(), st.data())
def test_no_feasible_point_is_better(problem: tuple[Any, Any, Any], data: st.DataObject) -> None:
    # a concave objective is maximal at x iff its slope there points out of every feasible direction
    gain, rows, limits = problem
    count, n = gain.shape
    root = np.array(
        data.draw(st.lists(INTEGERS, min_size=count * n * n, max_size=count * n * n))
    ).reshape(count, n, n)
    # complementarity of 1e-12: where a row is met with no force, x is off by its root
    for curvature, close in ((None, 1e-9), (np.einsum("bij,bik->bjk", root, root) / 4, 1e-5)):
        x = maximise(gain, rows, limits, -ONE, ONE, curvature)[0]
        assert (np.einsum("bmn,bn->bm", rows, x) <= limits + 1e-9).all()
        assert (abs(x) <= 1 + 1e-9).all()
        slope = gain if curvature is None else gain - np.einsum("bij,bj->bi", curvature, x)
        for b in range(count):
            best = optimize.linprog(-slope[b], rows[b], limits[b], bounds=(-1, 1), method="highs")
            assert -best.fun - slope[b] @ x[b] <= close


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


SHAPES: list[Callable[[Any], Any]] = [lambda x: x, lambda x: x**3, lambda x: np.expm1(x)]
SHAPES += [lambda x: np.arctan(50 * x), lambda x: stats.norm.cdf(3 * x) - 0.5]
SHAPES += [lambda x: np.sign(x) * np.sqrt(np.abs(x)), lambda x: x + 0.9 * np.sin(x)]
SIZE = st.integers(1, 40)
ROW = st.tuples(st.integers(0, len(SHAPES) - 1), st.integers(-40, 40), SIZE, SIZE)


@given(st.lists(ROW, min_size=1, max_size=12))
def test_each_row_has_the_root_of_its_own_function(rows: list[tuple[int, int, int, int]]) -> None:
    center = np.array([c / 16 for _, c, _, _ in rows])
    low = center - np.array([b / 8 for *_, b, _ in rows])
    high = center + np.array([b / 8 for *_, b in rows])

    def function(x: Any, index: Any) -> Any:
        return np.array([SHAPES[rows[k][0]](v - center[k]) for v, k in zip(x, index, strict=True)])

    everyone = np.arange(len(rows))
    roots = increasing_root(function, low, high, function(low, everyone), function(high, everyone))
    for k, (shape, *_) in enumerate(rows):  # x³ rounds to a flat foot
        assert roots[k] == pytest.approx(center[k], abs=2e-5 if shape == 1 else 4e-15)


def test_a_root_at_an_end_is_that_end() -> None:
    def function(x: Any, index: Any) -> Any:
        return x

    low, high = np.array([0.0, -1.0]), np.array([1.0, 0.0])
    assert increasing_root(function, low, high, low, high).tolist() == [0.0, 0.0]


def test_a_jump_is_bracketed() -> None:
    def function(x: Any, index: Any) -> Any:
        return np.where(x > 1 / 3, 1.0, -1.0)

    roots = increasing_root(function, np.zeros(1), np.ones(1), -np.ones(1), np.ones(1))
    assert roots[0] == pytest.approx(1 / 3, abs=1e-15)
