"""Training in the engine against scipy, and exact worth against a large sample."""

import json

import numpy as np
import pytest
from scipy import optimize, special

from fairfl.sims.data.federated.population import sample
from fairfl.sims.engine.secure_sums import as_floats
from fairfl.sims.runs.run import simulate
from fairfl.studies.crosscheck.population.features import Basis
from fairfl.studies.crosscheck.population.learned_rules import Performance, learned
from fairfl.studies.crosscheck.population.worlds import by_name, random_world
from fairfl.studies.crosscheck.training_plan import CFL, ENSEMBLE, LFT_AVG, Plan, featured
from fairfl.studies.execute import run_units
from fairfl.theory.populations.classifiers import Classifier

WORLD = by_name("figure-5d")


def trained(plan):
    setting = plan.setting()
    return simulate(
        setting.model, setting.parts, setting.replicates, setting.training, setting.computing
    )


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
    plan = Plan(WORLD, CFL, 1, 2_000, 3, ((budget,),))
    result = trained(plan)
    data = sample(WORLD.federation, 2_000, 3)
    basis = plan.bases()[0]
    features = basis(data.x[:, 0], data.group)
    lam = as_floats(result.simulation.states[0]["lam"])
    negative = lam / np.bincount(data.group) * len(data.group)
    weights = np.where(data.y == 0, negative[data.group], 2 - negative[data.group])
    best = weighted_optimum(features, data.y, weights)
    reached = np.mean(weights * np.logaddexp(0, -(2 * data.y - 1) * (features @ result.params[0])))
    assert 0 <= reached - best.fun + 1e-12 < 1e-5
    for edges, exact in zip(
        learned(basis, result.params[0]).edges, learned(basis, best.x).edges, strict=True
    ):
        np.testing.assert_allclose(edges, exact, atol=0.02)
    rule = learned(basis, result.params[0])(data.x[:, 0], data.group)
    gap = rule[data.group == 0].mean() - rule[data.group == 1].mean()
    assert abs(abs(gap) - budget) < 0.01  # the budget is met on the sample: it binds here


def test_every_client_of_an_ensemble_keeps_its_own_budget():
    budgets = (1.0, 0.2)
    result = trained(plan := Plan(WORLD, ENSEMBLE, 1, 4_000, 1, (budgets,)))
    data = sample(WORLD.federation, 4_000, 1)
    for i, rule in enumerate(plan.members(result)[0]):
        x, group = data.x[data.owner == i, 0], data.group[data.owner == i]
        rates = [rule(x[group == a], a).mean() for a in (0, 1)]
        assert abs(rates[0] - rates[1]) < budgets[i] + 0.02
    assert abs(abs(rates[0] - rates[1]) - 0.2) < 0.02  # client 1's binds


def test_the_measures_are_those_of_the_rule_on_the_population():
    plan = Plan(random_world(0), LFT_AVG, 3, 1_000, 0, ((0.1,), (0.0, 0.5)), 10)
    table = run_units([plan.unit()])
    assert list(table["budget"]) == ["0.1", "0 0.5"] and set(table["scheme"]) == {LFT_AVG}
    big = sample(plan.world.federation, 200_000, 5)
    for row in table.to_dict("records"):
        rule = Classifier.from_json(row["rule"])
        accept = rule(big.x[:, 0], big.group)
        right = np.where(big.y == 1, accept, 1 - accept).mean()
        assert row["accuracy"] == pytest.approx(right, abs=5 * 0.5 / 200_000**0.5)
        rates = [accept[big.group == a].mean() for a in (0, 1)]
        assert row["difference"] == pytest.approx(rates[0] - rates[1], abs=5 / 200_000**0.5)
        assert Performance.of(rule, plan.world.federation).accuracy == row["accuracy"]
        assert len(json.loads(row["members"])) == 1


def test_members_have_features_of_their_own():
    bases = [Basis.of(WORLD, 1, i) for i in (0, 1)]
    parts, data = featured(WORLD, 300, 0, bases), sample(WORLD.federation, 300, 0)
    for i in (0, 1):
        is_client = data.owner == i
        rows = slice(int(parts.train.offsets[i]), int(parts.train.offsets[i + 1]))
        np.testing.assert_allclose(
            parts.train.x[rows].numpy(), bases[i](data.x[is_client, 0], data.group[is_client])
        )
