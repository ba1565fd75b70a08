"""Projection onto the dual weights of rank-weighted objectives, against all orders."""

import itertools

import numpy as np
import pytest

from fairfl.solvers.minimax.permutahedron import client_shares, project, shift, weighs_by_rank
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
