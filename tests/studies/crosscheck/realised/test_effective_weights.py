"""Effective weights: their definition, their slow twin by perturbing one client's gradient, and
what is refused.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.algorithms.dual_weighted import DualWeighted
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.engine import LeastSquares, Training
from fairfl.studies.crosscheck.realised.drawn_ranks import weights_of_draws
from fairfl.studies.crosscheck.realised.effective_weights import (
    apart,
    effective_weights,
    in_their_span,
)
from fairfl.studies.crosscheck.realised.step_problems import StepProblem, quadratic, step_problem
from fairfl.studies.least_squares_problem import Problem
from fairfl.theory.aggregation import QFFL, RankWeighted

FULL = Training(1, lr=0.1, batch_size=None, steps=1)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(0, 4))
def test_a_step_made_of_gradients_and_a_rest(seed, clients, more):
    rng = np.random.default_rng(seed)
    slopes, weights = rng.normal(size=(clients, clients + more)), rng.normal(size=clients)
    rest = rng.normal(size=clients + more)
    rest -= slopes.T @ np.linalg.lstsq(slopes.T, rest, rcond=None)[0]  # orthogonal to all
    step = rest - 0.3 * weights @ slopes
    found = effective_weights(step, slopes, 0.3)
    cond = np.linalg.cond(slopes)
    np.testing.assert_allclose(
        found.weights, weights, atol=1e-12 * cond * (1 + np.abs(weights).max()) * 10
    )
    np.testing.assert_allclose(
        found.outside, np.linalg.norm(rest) / np.linalg.norm(step), atol=1e-9
    )
    inside, gradients, left = in_their_span(step, slopes)
    again = effective_weights(np.append(inside, left), np.pad(gradients, ((0, 0), (0, 1))), 0.3)
    np.testing.assert_allclose(
        again.weights, found.weights, atol=1e-11 * cond * (1 + np.abs(weights).max())
    )
    np.testing.assert_allclose(again.outside, found.outside, atol=1e-9)


def test_wrong_arguments_are_named():
    eye = np.eye(3)
    for step, slopes, lr, name in (
        (np.ones(2), eye, 0.1, "step"),
        (np.zeros(3), eye, 0.1, "step"),
        (np.ones(3), np.array([[1.0, 0, 0], [2.0, 0, 0]]), 0.1, "gradients"),
        (np.ones(3), np.vstack([eye, eye[:1]]), 0.1, "gradients"),
        (np.ones(3), np.zeros((1, 3)), 0.1, "gradients"),
        (np.ones(3), eye, 0.0, "lr"),
        (np.array([1.0, np.nan, 0]), eye, 0.1, "step"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must"):
            effective_weights(step, slopes, lr)
    with pytest.raises(ValueError, match="others must not all be 0"):
        apart(np.ones(2), np.zeros(2))


def test_total_variation_by_hand():
    assert apart(np.array([1.0, 1.0]), np.array([3.0, 1.0])) == pytest.approx(1 / 4)
    assert apart(np.array([2.0, 0.0]), np.array([0.0, 5.0])) == 1
    assert apart(np.array([1.0, -1.0]), np.array([1.0, 1.0])) == 0.5
    assert apart(np.array([1.0, 2.0]), np.array([10.0, 20.0])) == pytest.approx(0, abs=1e-16)


@pytest.mark.parametrize("name", ["quadratic", "Synthetic"])
def test_losses_and_gradients_of_a_world(name):
    world = step_problem(name, 1)
    rng = np.random.default_rng(0)
    w, v, h = rng.normal(size=world.model.size) * 0.1, rng.normal(size=world.model.size), 1e-6
    slopes = (world.losses(w + h * v) - world.losses(w - h * v)) / (2 * h)
    np.testing.assert_allclose(world.gradients(w) @ v, slopes, rtol=1e-6, atol=1e-7)


def test_the_quadratic_world_is_the_problem():
    world = quadratic(3)
    problem, w = Problem(world.parts), np.linspace(-1, 1, 8)
    np.testing.assert_allclose(world.losses(w), problem.losses(w), rtol=1e-13)
    np.testing.assert_allclose(world.gradients(w), problem.gradients(w), rtol=1e-12, atol=1e-13)


ALGORITHMS = {
    "fedavg": FedAvg(),
    "qfedavg": QFedAvg(2.0),
    "term": TERM(1.0),
    "propfair": PropFair(12.0, rescale=True),
    "threshold": PropFair(8.0, 4.0),
    "gini": PFedAvg(RankWeighted.gini()),
    "dual": DualWeighted(QFFL(1.0)),
}


@pytest.mark.exact
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_weight_is_what_a_change_of_one_gradient_does_to_the_step(name):
    """The slow twin: bend one client's loss so that its gradient alone moves, by h u with u
    orthogonal to all gradients (so that no length changes to first order): the step moves by -lr
    v_k h u.
    """
    problem, w = Problem.make(1, clients=4, samples=12, features=7), np.linspace(-0.5, 0.5, 7)
    h = 1e-5
    slopes = problem.gradients(w)

    def step_of(y):
        world = StepProblem("bent", LeastSquares(7, bias=False), Problem.of(problem.x, y).data, 0.1)
        simulation = world.simulation([ALGORITHMS[name]], FULL, 0)
        simulation.params.copy_(simulation.params.new_tensor(w)[None])
        simulation.step()
        return simulation.params[0].numpy() - w

    found = effective_weights(step_of(problem.y), slopes, 0.1)
    assert found.outside < 1e-12
    u = np.linalg.svd(slopes)[2][-1]
    for k in range(4):
        x, residual = problem.x[k], problem.x[k] @ w - problem.y[k]
        # gradient mean(residual x): change residuals by d with x' d / n = u and residual . d = 0
        # (the loss stays)
        rows = np.vstack([x.T / len(x), residual[None]])
        d = np.linalg.lstsq(rows, np.append(u, 0.0), rcond=None)[0]
        assert np.abs(rows @ d - np.append(u, 0.0)).max() < 1e-9
        moved = []
        for sign in (1, -1):
            y = problem.y.copy()
            y[k] -= sign * h * d
            moved.append(step_of(y))
        change = (moved[0] - moved[1]) / (2 * h)
        assert change @ u == pytest.approx(-0.1 * found.weights[k], rel=1e-5, abs=1e-8)
        np.testing.assert_allclose(
            change, (change @ u) * u, atol=1e-5 * (1 + np.abs(found.weights[k]))
        )


@given(st.lists(st.fractions(0, 3, max_denominator=9), min_size=1, max_size=4), st.integers(0, 4))
def test_weights_of_draws_are_the_mean_over_all_sets(ranks, more):
    n, m = len(ranks) + more, len(ranks)
    sets = list(combinations(range(n), m))  # clients in the order of falling losses
    mean = [
        sum((ranks[s.index(k)] for s in sets if k in s), Fraction(0)) / len(sets) for k in range(n)
    ]
    assert weights_of_draws(ranks, n) == mean
    assert sum(weights_of_draws(ranks, n)) == sum(ranks)


def test_gini_of_draws_is_a_smaller_tilt():
    n, m = 7, 3
    gini = [Fraction(2 * (m - j) + 1, m * m) for j in range(1, m + 1)]
    assert [float(v) for v in gini] == pytest.approx(
        RankWeighted.gini().dual_weights(np.array([3.0, 2.0, 1.0]))
    )
    tilt = Fraction(n * (m - 1), m * (n - 1))
    expected = [Fraction(1, n) + tilt * Fraction(n + 1 - 2 * k, n * n) for k in range(1, n + 1)]
    assert weights_of_draws(gini, n) == expected
    for m in (0, 8):
        with pytest.raises(ValueError, match="ranks must be from 1 to 7"):
            weights_of_draws([1.0] * m, 7)
