"""Projections: their variational inequalities, and sums and bounds that they keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.numerics.projections import (
    onto_box_of_sum,
    onto_capped_simplex,
    onto_simplex,
    soft_threshold,
)

POINTS = st.lists(st.floats(-50, 50), min_size=1, max_size=12).map(np.array)


@given(POINTS)
def test_the_simplex(point):
    """(point - x).(v - x) <= 0 for every vertex v of the simplex."""
    x = onto_simplex(point)
    assert x.min() >= 0 and x.sum() == pytest.approx(1, abs=1e-12)
    assert ((point - x)[:, None] * (np.eye(len(x)) - x[:, None])).sum(0).max() <= 1e-10


@pytest.mark.parametrize("size", [1e15, 1e17, 1e300])
def test_the_simplex_from_far_away(size):
    for signs in ([1, 2, 2], [-1, -1, -1], [-3, 0, 1]):
        far = np.array(signs) == max(signs)
        np.testing.assert_allclose(onto_simplex(size * np.array(signs)), far / far.sum())


@given(POINTS, st.floats(0.1, 100))
def test_the_capped_simplex(point, cap):
    """The same with the vertices 0 and cap e_i."""
    x = onto_capped_simplex(point, cap)
    vertices = np.concatenate([np.zeros((1, len(x))), cap * np.eye(len(x))])
    assert x.min() >= 0 and x.sum() <= cap * (1 + 1e-12)
    assert ((vertices - x) @ (point - x)).max() <= 1e-9 * (1 + cap)


@given(POINTS, st.integers(0, 10_000), st.floats(0, 1))
def test_boxes_of_a_sum(point, seed, share):
    """One shift of all entries, those at an end of the box excepted; both ends included."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(-1, 1, len(point))
    high = low + rng.choice([0.0, 0.5, 2.0], len(point))
    total = float(low.sum() + share * (high - low).sum())
    x = onto_box_of_sum(point, low, high, total)
    assert (x >= low).all() and (x <= high).all() and x.sum() == pytest.approx(total, abs=1e-12)
    moved = point - x
    assert moved[x < high].max(initial=-np.inf) <= moved[x > low].min(initial=np.inf) + 1e-12


def test_rows_are_projected_each_alone():
    points = np.random.default_rng(0).normal(size=(5, 6))
    high, caps = np.linspace(0.2, 1, 30).reshape(5, 6), np.linspace(0.3, 3, 5)
    boxed = onto_box_of_sum(points, np.zeros(6), high, 1.0)
    capped = onto_capped_simplex(points, caps)
    for k, point in enumerate(points):
        assert (boxed[k] == onto_box_of_sum(point, np.zeros(6), high[k], 1.0)).all()
        assert (capped[k] == onto_capped_simplex(point, caps[k])).all()


def test_soft_thresholds():
    assert soft_threshold(np.array([-3.0, -0.5, 0.0, 0.5, 3.0]), 1.0).tolist() == [-2, 0, 0, 0, 2]
