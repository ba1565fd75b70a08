"""Projection onto the dual weights of rank-weighted objectives, against all orders."""

import itertools

import numpy as np
import pytest

from fairfl.solvers.minimax.permutahedron import client_shares, project, shift, weighs_by_rank
from fairfl.theory.aggregation import AFL, TERM, FedAvg, RankWeighted

P = (0.1, 0.4, 0.3, 0.2)
AIMS = [
    AFL(),
    RankWeighted.gini(),
    RankWeighted.geometric(0.5),
    RankWeighted.cvar(0.6),
    RankWeighted(weights=(0.7, 0.2, 0.1, 0)),
    RankWeighted.linear().weighted(P),
    AFL().weighted(P),
    RankWeighted.gini().weighted(P),
    RankWeighted.cvar(0.6).weighted(P),
    RankWeighted.gini().translate([0.1, 0.2, 0.3, 0.4]).scale(2.5),
    AFL().translate(1.0).perspective(3.0).weighted(P),
]


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


def test_points_of_the_set_stay():
    rng = np.random.default_rng(1)
    for objective in AIMS:
        inside = np.mean(
            [objective.dual_weights(shift(objective, 4) + rng.normal(size=4)) for _ in range(6)],
            axis=0,
        )
        assert project(objective, inside) == pytest.approx(inside, abs=1e-14)


def test_the_simplex_for_many_clients():
    """AFL's set is the simplex: max(target - c, 0) with c by bisection."""
    rng = np.random.default_rng(2)
    for n in (1, 2, 50, 1000):
        target = rng.normal(size=n)
        low, high = target.min() - 1, target.max()
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if np.maximum(target - middle, 0).sum() > 1 else (low, middle)
            )
        assert project(AFL(), target) == pytest.approx(np.maximum(target - low, 0), abs=1e-12)
        assert project(AFL(), 1e9 * target + 1e12).sum() == pytest.approx(1, abs=1e-12)


def test_which_objectives_weigh_by_rank():
    assert weighs_by_rank(AFL().translate(1.0)) and weighs_by_rank(RankWeighted.gini().scale(2.0))
    assert not weighs_by_rank(TERM(1.0)) and not weighs_by_rank(FedAvg().perspective(2.0))
