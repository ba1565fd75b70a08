"""Populations under local constraints: the pointwise rule, fixed points, wrong arguments."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from fairfl import solve
from fairfl.claims.empirical.local_constraints import ACCURACY_ERROR, MD_ERROR, PEOPLE
from fairfl.sims.group_fairness import FairBatch
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


def test_the_largest_standard_errors():
    """p (1 - p) / n is largest at 1/2; a difference of two halves of n adds two of n/2."""
    p = np.linspace(0, 1, 101)
    variance = p * (1 - p)
    assert pytest.approx(np.sqrt(variance / PEOPLE).max()) == ACCURACY_ERROR == 0.005
    assert (
        pytest.approx(np.sqrt(2 * (variance + variance[:, None]) / PEOPLE).max())
        == MD_ERROR
        == 0.01
    )


def sixteenths(low: float, high: float) -> st.SearchStrategy[float]:
    """Multiples of 1/16: an F that meets its budget exactly does so in both."""
    return st.integers(round(16 * low), round(16 * high)).map(lambda k: k / 16)


@given(
    q=sixteenths(1 / 16, 15 / 16),
    place=st.tuples(sixteenths(0, 2), sixteenths(0, 2)),
    difference=sixteenths(-1, 1),
    budget=sixteenths(0, 1),
    number=st.integers(0, 50),
)
def test_steps_are_those_of_fairbatch(q, place, difference, budget, number):
    """``known`` (A, 2) holds people of label 1 alone, so that F_1 = -MD is the second report."""
    share = np.array([[1 - q, q]])
    lam = share * np.array(place)
    rule = FairBatch("dp", ALPHA, 1.0, "zero_one", budget=budget, projection="box")
    wanted = rule.step(lam[0], np.array([0.0, -difference]), np.array([[0, 1 - q], [0, q]]), number)
    found = stepped(lam, np.array([difference]), share, np.array([budget]), number)
    assert np.allclose(found[0], wanted, atol=1e-12)


def test_clients_move_on_their_own():
    """By 0.3 / √2 at t = 0. MD = 0.5 > ε: λ_1 falls; -0.5: rises; |MD| < ε: to 0."""
    lam, half = np.array([[0.5, 0.5], [0.9, 0.1], [0.4, 0.6]]), np.full((3, 2), 0.5)
    found = stepped(lam, np.array([0.5, -0.5, 0.05]), half, np.full(3, 0.1), 0)
    far = ALPHA / 2**0.5
    assert np.allclose(found, [[0.5 + far, 0.5 - far], [0.9 - far, 0.1 + far], [0.5, 0.5]])
