"""Features, and the rules that parameters stand for, against the score on a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairfl.studies.crosscheck.population.learned_rules import FLOOR, Basis, Performance, learned
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
