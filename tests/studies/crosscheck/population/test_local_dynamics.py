"""Populations under local constraints: derived fixed points, and regimes against each other."""

from collections import deque

import numpy as np
import pytest

from fairfl import solve
from fairfl.studies.crosscheck.population.fairbatch_step import Ascent
from fairfl.studies.crosscheck.population.local_dynamics import Dynamics, converged, locally_fair
from fairfl.studies.crosscheck.population.mean_field import any_rule
from fairfl.studies.crosscheck.population.worlds import figure_5, figure_9, random_world

FIGURE = figure_5("a")


@pytest.mark.parametrize("world", [FIGURE, figure_9("b"), random_world(1)], ids=lambda w: w.name)
@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_the_optimum_is_the_pointwise_rule_at_its_multipliers(world, eps):
    best = solve(world.federation, "lft_fedavg", eps=eps)
    offset = best.multipliers / np.array(world.weight)
    rule = any_rule(world, world.shares + offset[:, None] * np.array([-1, 1]))
    assert rule.accuracy(world.federation) == pytest.approx(best.accuracy, abs=1e-9)
    assert np.allclose(
        rule.local_mean_differences(world.federation), best.local_mean_differences, atol=1e-9
    )


def end(run):
    """The rule of the last round."""
    return deque(run.run(), maxlen=1)[0][0]


def test_pooled_gradients_reach_the_optimum():
    best = solve(FIGURE.federation, "lft_fedavg", eps=0.1)
    rule = end(Dynamics(FIGURE, (0.1, 0.1), "pooled", 0, rounds=300))
    assert rule.accuracy(FIGURE.federation) == pytest.approx(best.accuracy, abs=1e-3)
    assert np.abs(rule.local_mean_differences(FIGURE.federation)).max() <= 0.1 + 3e-3


def test_a_budget_that_does_not_bind_leaves_the_bayes_rule():
    """Figure 5 (a): the Bayes rule has MD_1 = Φ(1) - Φ(-1) = 0.683, the larger one."""
    for regime in ("pooled", "steps", "converged", "locally-fair"):
        rule = end(Dynamics(FIGURE, (0.7, 0.7), regime, 1, rounds=60))
        assert rule.accuracy(FIGURE.federation) == pytest.approx(0.84766, abs=1e-4), regime


def test_many_local_steps_are_the_average_of_minimisers():
    world = random_world(4)
    run = Dynamics(
        world, (0.05,) * world.clients, "steps", 1, steps=3000, rounds=3, ascent=Ascent(0.2, 0.0)
    )
    rule, lam = deque(run.run(), maxlen=1)[0]
    assert not np.allclose(lam, world.shares)  # λ has moved
    assert np.allclose([edges[0] for edges in rule.edges], converged(world, lam), atol=1e-4)


def test_one_step_from_the_start_is_one_of_the_pooled_gradient():
    """All clients begin at the same w, so their average after one step is one step on the weighted
    sum of losses: the sum does not depend on who holds what. Two clients with one law, or one
    client with it, are the same.
    """
    one = random_world(2).alone(0)
    two = type(one)("twice", one.mean * 2, one.sd * 2, one.q * 2, (0.3, 0.7))
    ends = [
        end(Dynamics(w, (0.0,) * w.clients, "steps", 3, steps=s, rounds=40))
        for w in (one, two)
        for s in (1, 5)
    ]
    for first, second in ((ends[0], ends[2]), (ends[1], ends[3])):
        assert all(
            np.allclose(a, b, atol=1e-8) for a, b in zip(first.edges, second.edges, strict=True)
        )


def test_fair_clients_of_figure_5_average_to_the_bayes_rule():
    """ε = 0, q = 1/2, equal sd: MD_i = 0 wants t_0 - μ_0 = t_1 - μ_1, optimality η(t_0) + η(t_1) =
    1, so t_1 = -t_0 = (μ_1 - μ_0) / 2: (-1, 1) for means (3, 5) and (1, -1) for means (1, -1). The
    average is (0, 0).
    """
    assert np.allclose(locally_fair(FIGURE, (0.0, 0.0)), 0.0, atol=1e-9)
    assert np.allclose(locally_fair(FIGURE.alone(0), (0.0,)), [-1, 1], atol=1e-9)
    rule = end(
        Dynamics(FIGURE, (0.0, 0.0), "converged", rounds=200)
    )  # ρ of the two clients is 1 ± the same: it cancels
    assert np.allclose([edges[0] for edges in rule.edges], 0.0, atol=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"regime": "all"},
        {"budgets": (0.1,)},
        {"budgets": (-0.1, 0.0)},
        {"steps": 0},
        {"rounds": 0},
        {"degree": 0},
    ],
)
def test_wrong_arguments(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Dynamics(**({"world": FIGURE, "budgets": (0.0, 0.0), "regime": "steps"} | wrong))
