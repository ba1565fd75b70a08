"""Populations on a quadrature: distribution functions, differences, closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from fairfl.studies.crosscheck.population.features import Basis
from fairfl.studies.crosscheck.population.mean_field import (
    MeanField,
    any_rule,
    gradients,
    minimiser,
    rule_of,
)
from fairfl.studies.crosscheck.population.worlds import figure_5, figure_9, random_world

WORLDS = [figure_5("a"), figure_9("d"), random_world(3)]


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: w.name)
def test_masses_are_those_of_the_federation(world):
    field = MeanField.of(world)
    both = np.stack([field.accepted[a].sum(1) + field.refused[a].sum(1) for a in (0, 1)], axis=1)
    assert np.allclose(both, world.federation.mass, atol=1e-14)
    assert sum(part.sum() for part in field.accepted) == pytest.approx(
        world.federation.base_rate, abs=1e-12
    )


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: w.name)
@pytest.mark.parametrize("degree", [1, 3])
def test_one_weight_a_group_gives_the_weighted_bayes_rule(world, degree):
    """z_a = x + log((2 - ρ_a) / ρ_a) for every law of x: its threshold is minus that."""
    rho = np.array([0.4, 1.7])
    field, basis = MeanField.of(world), Basis.of(world, degree)
    params = minimiser(field, field.features(basis), rho * world.shares, np.zeros((2, degree + 1)))
    scores = basis(np.array([-1.0, 2.0, -1.0, 2.0]), np.array([0, 0, 1, 1])) @ params.ravel()
    offset = np.log((2 - rho) / rho)
    assert np.allclose(scores, np.array([-1.0, 2.0, -1.0, 2.0]) + np.repeat(offset, 2), atol=1e-6)
    if degree == 1:
        assert np.allclose([edges[0] for edges in rule_of(basis, params).edges], -offset, atol=1e-8)


def weighted_loss(world, basis, rho, client, params):
    """A client's mean weighted log loss by adaptive quadrature, from the definition."""
    total = 0.0
    for a, share in enumerate((1 - world.q[client], world.q[client])):
        law = stats.norm(world.mean[client][a], world.sd[client][a])

        def density(x, a=a, law=law):
            z = float((basis(np.array([x]), np.array([a])) @ params.ravel())[0])
            yes = (2 - rho[client, a]) * special.expit(x) * np.logaddexp(0, -z)
            return law.pdf(x) * (yes + rho[client, a] * special.expit(-x) * np.logaddexp(0, z))

        ends = law.mean() - 9 * law.std(), law.mean() + 9 * law.std()
        total += share * integrate.quad(density, *ends, epsabs=1e-12, limit=200)[0]
    return total


def test_gradients_are_those_of_the_clients_losses():
    world = random_world(3)
    field, basis = MeanField.of(world), Basis.of(world, 2)
    rng = np.random.default_rng(0)
    rho = rng.uniform(0, 2, (world.clients, 2))
    params = rng.normal(size=(world.clients, 2, 3)) / 2
    found, step = gradients(field, field.features(basis), rho * world.shares, params), 1e-4
    for client in (0, world.clients - 1):
        for at in ((0, 0), (0, 2), (1, 1)):
            moved = [params[client].copy() for _ in range(2)]
            moved[0][at] += step
            moved[1][at] -= step
            up, down = (weighted_loss(world, basis, rho, client, w) for w in moved)
            assert found[client][at] == pytest.approx((up - down) / (2 * step), abs=1e-6)


@given(seed=st.integers(0, 40), draw=st.integers(0, 10_000))
def test_the_pointwise_rule_has_the_least_weighted_error(seed, draw):
    """No rule by thresholds does better, at the nodes: Σ ρ P(ŷ=1, y=0) + (2 - ρ) P(ŷ=0, y=1)."""
    world, rng = random_world(seed), np.random.default_rng(draw)
    rho = rng.uniform(0, 2, (world.clients, 2))
    field, best = MeanField.of(world), any_rule(world, rho * world.shares)
    for a in (0, 1):
        x = field.nodes[a]
        # of accepting at x
        wrong = rho[:, a] @ field.refused[a] - (2 - rho[:, a]) @ field.accepted[a]
        cut = rng.normal(scale=2)
        least = best(x, a) @ wrong
        assert least <= (x > cut) @ wrong + 1e-9
        assert least <= (x < cut) @ wrong + 1e-9
        assert least == pytest.approx(np.minimum(wrong, 0).sum(), abs=1e-6)
