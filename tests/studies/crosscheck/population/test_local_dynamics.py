"""Populations under local constraints: the pointwise rule, fixed points, wrong arguments."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from fairfl import solve
from fairfl.studies.crosscheck.population.local_dynamics import ALPHA, converged, stepped, trained
from fairfl.studies.crosscheck.population.pointwise_rule import any_rule
from fairfl.studies.crosscheck.population.worlds import by_name, random_world

FIGURE, THREE = by_name("figure-5a"), by_name("figure-9b")


@pytest.mark.parametrize("world", [FIGURE, THREE, random_world(1)], ids=lambda w: w.name)
@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_the_optimum_is_the_pointwise_rule_at_its_multipliers(world, eps):
    best = solve(world.federation, "lft_fedavg", eps=eps)
    offset = best.multipliers / np.array(world.weight)
    rule = any_rule(world, world.shares + offset[:, None] * np.array([-1, 1]))
    assert rule.accuracy(world.federation) == pytest.approx(best.accuracy, abs=1e-9)
    assert np.allclose(
        rule.local_mean_differences(world.federation), best.local_mean_differences, atol=1e-9
    )


@given(seed=st.integers(0, 40), draw=st.integers(0, 10_000))
def test_the_pointwise_rule_has_the_least_weighted_error(seed, draw):
    """Σ ρ P(ŷ=1, y=0) + (2 - ρ) P(ŷ=0, y=1) by the trapezoid rule: each point's least."""
    world, rng = random_world(seed), np.random.default_rng(draw)
    rho, x = rng.uniform(0, 2, (world.clients, 2)), np.linspace(-22, 22, 20_001)
    best = any_rule(world, rho * world.shares)
    for a in (0, 1):
        wrong = 0.0  # of accepting at x
        for i in range(world.clients):
            density = stats.norm(world.mean[i][a], world.sd[i][a]).pdf(x)
            mass = world.weight[i] * world.shares[i, a] * density * (x[1] - x[0])
            wrong += mass * (rho[i, a] - 2 * special.expit(x))
        assert best(x, a) @ wrong == pytest.approx(np.minimum(wrong, 0).sum(), abs=1e-6)


def end(*arguments):
    """The rule of the last round."""
    return deque(trained(*arguments), maxlen=1)[0][0]


def test_pooled_gradients_reach_the_optimum():
    best = solve(FIGURE.federation, "lft_fedavg", eps=0.1)
    rule = end(FIGURE, (0.1, 0.1), "pooled", 300)
    assert rule.accuracy(FIGURE.federation) == pytest.approx(best.accuracy, abs=1e-3)
    assert np.abs(rule.local_mean_differences(FIGURE.federation)).max() <= 0.1 + 3e-3


@pytest.mark.parametrize("regime", ["pooled", "converged"])
def test_a_budget_that_does_not_bind_leaves_the_bayes_rule(regime):
    """Figure 5 (a): the Bayes rule has MD_1 = Φ(1) - Φ(-1) = 0.683, the larger one."""
    rule = end(FIGURE, (0.7, 0.7), regime, 60)
    assert rule.accuracy(FIGURE.federation) == pytest.approx(0.84766, abs=1e-4)


def test_averages_of_minimisers():
    """Cuts -Σ_i π_i log((2 - ρ_ia) / ρ_ia); on figure 5 ρ is 1 ± the same, and they cancel."""
    rho = np.array([[0.5, 1.5], [1.2, 0.3]])
    rule = converged(FIGURE, rho * FIGURE.shares)
    cuts = -np.log((2 - rho) / rho).mean(axis=0)
    assert np.allclose([edges[0] for edges in rule.edges], cuts)
    rule = end(FIGURE, (0.0, 0.0), "converged", 200)
    assert np.allclose([edges[0] for edges in rule.edges], 0.0, atol=1e-9)


def test_clients_move_on_their_own():
    """By 0.3 / √2 at t = 0. MD = 0.5 > ε: λ_1 falls; -0.5: rises; |MD| < ε: to 0."""
    lam, half = np.array([[0.5, 0.5], [0.9, 0.1], [0.4, 0.6]]), np.full((3, 2), 0.5)
    stepped_lam = stepped(lam, np.array([0.5, -0.5, 0.05]), half, np.full(3, 0.1), 0)
    far = ALPHA / 2**0.5
    assert np.allclose(stepped_lam, [[0.5 + far, 0.5 - far], [0.9 - far, 0.1 + far], [0.5, 0.5]])
