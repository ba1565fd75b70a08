"""Features, and the rules that parameters stand for, against the score on a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import hermite_e
from scipy import stats

from fairfl.studies.crosscheck.population.features import FLOOR, Basis
from fairfl.studies.crosscheck.population.learned_rules import Performance, crossings, learned
from fairfl.studies.crosscheck.population.worlds import by_name, random_world
from fairfl.theory.populations.classifiers import Classifier


@pytest.mark.parametrize("client", [None, 1])
def test_the_basis_is_orthonormal(client):
    """Integrated against P(x, a) (η (1 - η) + 1/10), by the trapezoid rule."""
    world, degree = random_world(3), 5
    basis = Basis.of(world, degree, client)
    clients = range(world.clients) if client is None else [client]
    total = sum(world.weight[i] for i in clients)
    x = np.linspace(-25, 25, 20_001)
    eta = 1 / (1 + np.exp(-x))
    for a in (0, 1):
        shares = [world.weight[i] / total * (world.q[i] if a else 1 - world.q[i]) for i in clients]
        density = sum(
            s * stats.norm(world.mean[i][a], world.sd[i][a]).pdf(x)
            for i, s in zip(clients, shares, strict=True)
        )
        rows = basis(x, np.full(x.size, a)).reshape(x.size, 2, degree + 1)[:, a]
        gram = (rows * (density * (eta * (1 - eta) + FLOOR))[:, None]).T @ rows * (x[1] - x[0])
        np.testing.assert_allclose(gram, np.eye(degree + 1), atol=1e-6)


def test_features_are_those_of_the_own_group_and_span_the_polynomials():
    basis = Basis.of(by_name("figure-5a"), 3)
    x, group = np.linspace(-4, 7, 40), np.arange(40) % 2
    features = basis(x, group)
    assert features.shape == (40, basis.size) == (40, 8)
    assert not features[group == 0, 4:].any() and not features[group == 1, :4].any()
    for a in (0, 1):
        block = features[group == a][:, 4 * a : 4 * a + 4]
        for power in range(4):
            target = x[group == a] ** power
            fit = block @ np.linalg.lstsq(block, target, rcond=None)[0]
            np.testing.assert_allclose(fit, target, atol=1e-9 * np.abs(target).max())


@given(st.integers(0, 2**20), st.sampled_from([1, 2, 3, 5, 7]))
def test_a_rule_is_the_sign_of_its_score(seed, degree):
    rng = np.random.default_rng(seed)
    basis = Basis.of(by_name("figure-5d"), degree)
    params = rng.normal(size=basis.size) * 10.0 ** rng.uniform(-3, 3, basis.size)
    rule = learned(basis, params)
    x = rng.uniform(-12, 14, 400)
    for a in (0, 1):
        group = np.full(x.size, a)
        features = basis(x, group)
        score = features @ params
        clear = np.abs(score) > 1e-9 * (np.abs(features) @ np.abs(params))
        np.testing.assert_array_equal(rule(x, a)[clear], (score > 0)[clear])


def test_crossings_by_hand():
    """He_2 = z² - 1: ±1; z² + 1 has none; (z - 2)² touches, the sign stays; a constant: none."""
    np.testing.assert_allclose(crossings(np.array([0.0, 0, 1])), [-1, 1])
    assert crossings(hermite_e.poly2herme([1.0, 0, 1])).size == 0
    assert crossings(np.array([3.0, 0, 0])).size == 0 and crossings(np.zeros(2)).size == 0
    np.testing.assert_allclose(crossings(hermite_e.poly2herme([-2.0, 1, 0, 0])), [2])
    np.testing.assert_allclose(
        crossings(hermite_e.poly2herme([0.0, -4, 0, 1])), [-2, 0, 2], atol=1e-12
    )


def test_the_bayes_rule_is_learned_from_its_coefficients():
    """η is logistic in x, so the score x is the Bayes rule: its accuracy is E max(η, 1 - η)."""
    world = by_name("figure-5b")
    basis = Basis.of(world, 1)
    # x = centre + scale He_1(z)
    slope = np.stack([[basis.centre[a], basis.scale[a]] for a in (0, 1)])
    params = np.concatenate([np.linalg.solve(basis.matrix[a].T, slope[a]) for a in (0, 1)])
    rule = learned(basis, params)
    np.testing.assert_allclose([e[0] for e in rule.edges], 0, atol=1e-12)
    figures = Performance.of(rule, world.federation)
    assert figures.accuracy == pytest.approx(
        Classifier.thresholds([0, 0]).accuracy(world.federation), abs=1e-14
    )
    assert figures.disparity == abs(figures.difference) and len(figures.local) == 2
