"""Projection onto the dual weights of rank-weighted objectives, against all orders; known minima of
smooth functions, walls of infinity, and no minimum.
"""

import itertools

import numpy as np
import pytest
from scipy import optimize

from fairfl.solvers.minimax.method_of_multipliers import (
    client_shares,
    minimise,
    project,
    shift,
    weighs_by_rank,
)
from fairfl.theory.aggregation import AFL, TERM, FedAvg, RankWeighted

P = (0.1, 0.4, 0.3, 0.2)
AIMS = [AFL(), RankWeighted.gini(), RankWeighted.geometric(0.5), RankWeighted.cvar(0.6)]
AIMS += [RankWeighted(weights=(0.7, 0.2, 0.1, 0)), RankWeighted.linear().weighted(P)]
AIMS += [AFL().weighted(P), RankWeighted.gini().weighted(P), RankWeighted.cvar(0.6).weighted(P)]
AIMS += [RankWeighted.gini().translate([0.1, 0.2, 0.3, 0.4]).scale(2.5)]
AIMS += [AFL().translate(1.0).perspective(3.0).weighted(P)]


@pytest.mark.parametrize("objective", AIMS, ids=repr)
def test_nearest_point_of_the_hull_of_all_orders(objective):
    """The definition of a projection onto a convex set: no vertex lies beyond the tangent plane."""
    rng, p = np.random.default_rng(0), client_shares(objective, 4)
    start = shift(objective, 4)
    orders = np.array(list(itertools.permutations(range(4))), float)
    vertices = objective.dual_weights(start + orders)
    for k in range(40):
        target = vertices[0].sum() * rng.normal(0.25, (0.02, 0.2, 2.0, 20.0)[k % 4], 4)
        if k % 5 == 0:
            target = np.round(target, 1)  # ties
        projection = project(objective, target)
        assert np.isfinite(objective.conjugate(projection))
        away = (target - projection) / p
        beyond = (vertices - projection) @ away
        assert beyond.max() <= 1e-11 * (1 + abs(away).max())
        # and the support function of the set is the objective
        best = objective.value(start + away) - away @ projection
        assert best == pytest.approx(beyond.max(), abs=1e-11 * (1 + abs(away).max()))


def test_which_objectives_weigh_by_rank():
    assert weighs_by_rank(AFL().translate(1.0)) and weighs_by_rank(RankWeighted.gini().scale(2.0))
    assert not weighs_by_rank(TERM(1.0)) and not weighs_by_rank(FedAvg().perspective(2.0))


def test_rosenbrock_to_the_last_digits():
    def function(x):
        return optimize.rosen(x), optimize.rosen_der(x)

    for d in (2, 5, 20):
        minimiser = minimise(function, np.full(d, -0.5), 1e-10)
        assert np.linalg.norm(optimize.rosen_der(minimiser)) <= 1e-10
        assert minimiser == pytest.approx(np.ones(d), abs=1e-9)


def test_a_wall_of_infinity_is_only_a_step_too_long():
    """-log(1 - x) - log(x) + c x on (0, 1), from its edge; the root of its slope is known."""

    def function(x):
        if not 0 < x[0] < 1:
            return np.inf, x
        return -np.log(1 - x[0]) - np.log(x[0]) + 50 * x[0], np.array(
            [1 / (1 - x[0]) - 1 / x[0] + 50]
        )

    root = (52 - np.sqrt(52**2 - 4 * 50)) / 100  # 50 x² - 52 x + 1 = 0, the smaller one
    for start in (1 - 1e-9, 0.5, 1e-9):
        assert minimise(function, np.array([start]), 1e-9) == pytest.approx([root], rel=1e-9)


def test_no_minimum_ends_without_a_point_that_looks_like_one():
    assert np.exp(-minimise(lambda x: (np.exp(-x[0]), -np.exp(-x)), np.zeros(1), 1e-30)) > 0
    last = minimise(lambda x: (float(x.sum()), np.ones(3)), np.zeros(3), 1e-9)
    assert np.isfinite(last).all()
