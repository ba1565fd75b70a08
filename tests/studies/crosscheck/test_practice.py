"""Training in the engine against scipy, and exact worth against a large sample."""

import numpy as np
import pytest
from scipy import optimize, special

from fairfl.sims.data.federated.population import sample
from fairfl.sims.engine import as_floats
from fairfl.sims.group_fairness.lft import LAM, MODELS
from fairfl.studies.crosscheck.population.learned_rules import Basis, learned
from fairfl.studies.crosscheck.population.worlds import by_name, random_world
from fairfl.studies.crosscheck.practice import CFL, ENSEMBLE, LFT_AVG, Practice, featured

WORLD = by_name("figure-5d")


def weighted_optimum(features, label, weights):
    """The least weighted mean log loss, by Newton's method with a line search."""

    def loss(w):
        return np.mean(weights * np.logaddexp(0, -(2 * label - 1) * (features @ w)))

    def slope(w):
        return features.T @ (weights * (special.expit(features @ w) - label)) / len(label)

    return optimize.minimize(
        loss, np.zeros(features.shape[1]), jac=slope, method="BFGS", options={"gtol": 1e-9}
    )


@pytest.mark.parametrize("budget", [0.0, 0.15])
def test_cfl_is_the_weighted_optimum_at_its_last_weights(budget):
    """λ moves in ever shorter steps, the model catches up: edges to 0.02 of x, loss to 1e-5."""
    practice = Practice(CFL, 2_000, rounds=100)
    simulation, (basis,) = practice.simulation(WORLD, [(budget,)], 1), practice.bases(WORLD)
    while not simulation.done:
        simulation.step()
    (state,), data = simulation.states, sample(WORLD.federation, 2_000, 0)
    features = basis(data.x[:, 0], data.group)
    lam, params = as_floats(state[LAM])[0], as_floats(state[MODELS])[0]
    negative = lam / np.bincount(data.group) * len(data.group)
    weights = np.where(data.y == 0, negative[data.group], 2 - negative[data.group])
    best = weighted_optimum(features, data.y, weights)
    reached = np.mean(weights * np.logaddexp(0, -(2 * data.y - 1) * (features @ params)))
    assert 0 <= reached - best.fun + 1e-12 < 1e-5
    trained = learned(basis, params)
    for edges, exact in zip(trained.edges, learned(basis, best.x).edges, strict=True):
        np.testing.assert_allclose(edges, exact, atol=0.02)
    rule = trained(data.x[:, 0], data.group)
    gap = rule[data.group == 0].mean() - rule[data.group == 1].mean()
    assert abs(abs(gap) - budget) < 0.01  # the budget is met on the sample: it binds here


def test_every_client_of_an_ensemble_keeps_its_own_budget():
    budgets = (1.0, 0.2)
    ((members,),) = Practice(ENSEMBLE, 4_000, rounds=100).trained(WORLD, [budgets], 1)
    data = sample(WORLD.federation, 4_000, 0)
    for i, rule in enumerate(members):
        x, group = data.x[data.owner == i, 0], data.group[data.owner == i]
        rates = [rule(x[group == a], a).mean() for a in (0, 1)]
        assert abs(rates[0] - rates[1]) < budgets[i] + 0.02
    assert abs(abs(rates[0] - rates[1]) - 0.2) < 0.02  # client 1's binds


def test_the_measures_are_those_of_the_rule_on_the_population():
    world, practice = random_world(0), Practice(LFT_AVG, 1_000, degree=3, rounds=10)
    own = (0.0, *[0.5] * (world.clients - 1))
    aims = {(0.1,): (0.3, 0.4), own: (0.0, 1.0)}
    table, rules = practice.measures(world, aims, 1), practice.trained(world, [*aims], 1)
    assert list(table["budget"]) == ["0.1", " ".join(f"{v:g}" for v in own)]
    big = sample(world.federation, 200_000, 5)
    for row, ((rule,),), (md, accuracy) in zip(
        table.to_dict("records"), rules, aims.values(), strict=True
    ):
        accept = rule(big.x[:, 0], big.group)
        right = np.where(big.y == 1, accept, 1 - accept).mean()
        assert row["accuracy"] == pytest.approx(right, abs=5 * 0.5 / 200_000**0.5)
        rates = [accept[big.group == a].mean() for a in (0, 1)]
        assert row["difference"] == pytest.approx(rates[0] - rates[1], abs=5 / 200_000**0.5)
        off = (row["difference"] - md) ** 2 + (row["accuracy"] - accuracy) ** 2
        assert row["distance"] == pytest.approx(off**0.5)


def test_members_have_features_of_their_own():
    bases, data = [Basis.of(WORLD, 1, i) for i in (0, 1)], sample(WORLD.federation, 300, 0)
    features = featured(data, bases).x
    for i in (0, 1):
        rows = data.owner == i
        expected = bases[i](data.x[rows, 0], data.group[rows])
        np.testing.assert_array_equal(features[rows], expected)
