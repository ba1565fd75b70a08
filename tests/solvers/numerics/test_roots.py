"""Vectorised roots of functions whose roots are known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairfl.solvers.numerics.roots import increasing_root

SHAPES: list[Callable[[Any], Any]] = [lambda x: x, lambda x: x**3, lambda x: np.expm1(x)]
SHAPES += [lambda x: np.arctan(50 * x), lambda x: stats.norm.cdf(3 * x) - 0.5]
SHAPES += [lambda x: np.sign(x) * np.sqrt(np.abs(x)), lambda x: x + 0.9 * np.sin(x)]
ROWS = st.lists(
    st.tuples(
        st.integers(0, len(SHAPES) - 1),
        st.integers(-40, 40),
        st.integers(1, 40),
        st.integers(1, 40),
    ),
    min_size=1,
    max_size=12,
)


@given(ROWS)
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
