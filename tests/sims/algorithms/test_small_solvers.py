"""The least norm inside FedMGDA: against its optimality conditions, which suffice: it is convex."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl.sims.algorithms import min_norm
from fairfl.sims.algorithms.min_norm import min_norm_weights


def is_optimal(gram, center, radius, v):
    """No move of weight between clients, within the box, lowers the norm to first order."""
    low, high = np.maximum(center - radius, 0), np.minimum(center + radius, 1)
    assert (v >= low - 1e-12).all() and (v <= high + 1e-12).all()
    assert v.sum() == pytest.approx(1, abs=1e-10)
    slope = gram @ v
    can_rise, can_fall = v < high - 1e-9, v > low + 1e-9
    if can_rise.any() and can_fall.any():
        assert slope[can_rise].min() >= slope[can_fall].max() - 1e-8


@given(st.integers(1, 9), st.integers(1, 6), st.floats(0, 1), st.integers(0, 10_000))
def test_the_least_norm_meets_its_conditions(clients, dimension, radius, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(clients, dimension)) + rng.normal(size=dimension)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    center = rng.dirichlet(np.ones(clients) * 3)
    gram = rows @ rows.T
    is_optimal(gram, center, radius, min_norm_weights(gram, center, radius))


def test_many_clients_and_copies_of_one_update():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 30))
    rows[60:] = rows[:60]  # a singular Gram matrix, and more clients than parameters
    center = np.full(120, 1 / 120)
    gram = rows @ rows.T / 30
    is_optimal(gram, center, 1.0, min_norm_weights(gram, center, 1.0))
    is_optimal(gram, center, 0.005, min_norm_weights(gram, center, 0.005))
    np.testing.assert_array_equal(min_norm_weights(gram, center, 0.0), center)


@settings(max_examples=max(10, settings().max_examples // 5))
@given(st.integers(1, 8), st.floats(0.01, 1), st.integers(0, 10_000))
def test_a_start_near_the_minimum_leads_to_the_same(clients, radius, seed):
    rng = np.random.default_rng(seed)
    rows, center = rng.normal(size=(clients, 12)), rng.dirichlet(np.ones(clients) * 3)
    gram = rows @ rows.T / 12
    plain = min_norm_weights(gram, center, radius)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(min_norm, "FEW", 0)
        np.testing.assert_allclose(min_norm_weights(gram, center, radius), plain, atol=1e-9)


def test_an_update_of_nothing_takes_all_the_weight():
    gram = np.diag([1.0, 0.0, 1.0])
    weights = min_norm_weights(gram, np.full(3, 1 / 3), 1.0)
    np.testing.assert_allclose(weights, [0, 1, 0], atol=1e-12)
