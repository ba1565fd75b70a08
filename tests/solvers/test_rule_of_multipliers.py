"""The rules of frontiers' points, rules from multipliers, and what budgets are worth."""

import pickle
from typing import Any

import numpy as np
import pytest
import scipy

import fairfl as ff
from fairfl.theory.populations.client_classifiers import ClientClassifiers

X = np.linspace(-40.0, 40.0, 400_001)
LAWS = [[-12.0, 12.0], [3.0, 0.0]]
"""In client 0's own law nobody is between: no double is a budget for one of its rules there."""


def counted(rule, masses, eta, weight, notion: str, costs=(1, 1)) -> tuple[float, float]:
    """Disparity and utility of a rule by loops over clients, groups and points."""
    events = {"dp": [(1, 1)], "eodds": [(0, 1), (1, 0)]}[notion]  # what y = 1, y = 0 count
    clients, groups, points = masses.shape
    served, total = np.zeros((2, len(events), groups))
    utility = 0.0
    for i in range(clients):
        for a in range(groups):
            for x in range(points):
                f = rule(x, a, i) if isinstance(rule, ClientClassifiers) else rule(x, a)
                mass, p = weight[i] * masses[i, a, x], eta[x]
                utility -= mass * (costs[1] * f * (1 - p) + costs[0] * (1 - f) * p)
                for k, (positive, negative) in enumerate(events):
                    total[k, a] += mass * (positive * p + negative * (1 - p))
                    served[k, a] += mass * (positive * p + negative * (1 - p)) * f
    return float(np.ptp(served / total, axis=1).max()), utility


@pytest.mark.parametrize(
    ("notion", "groups", "costs"),
    [("dp", 2, (1, 1)), ("dp", 2, (3, 1)), ("dp", 3, (1, 1)), ("eodds", 2, (1, 1))],
)
@pytest.mark.parametrize("scheme", ["cfl", "client_aware", "lft_fedavg", "lft_ensemble"])
@pytest.mark.every(3)
def test_points_on_a_finite_x_have_their_rules(scheme, notion, groups: int, costs) -> None:
    rng = np.random.default_rng(5)
    masses = rng.random((3, groups, 6)) * (rng.random((3, groups, 6)) < 0.8)  # some are empty
    masses[..., 0] += 1e-3 * (masses.sum(axis=2) == 0)
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    weight, eta = rng.random(3) + 0.2, np.round(4 * rng.random(6)) / 4  # with ties
    table = masses, eta, weight / weight.sum()
    fed = ff.Federation.finite(np.arange(6), *table[:2], weight=table[2])
    question = {"notion": notion, "costs": costs}
    F = ff.frontier(fed, scheme, 4, **question)
    m = ff.min_disparity(fed, scheme, **question)
    points = zip(F.disparity, F.utility, F.accuracy, strict=True)
    rules = [(F.solution_at(d), d, u, accuracy) for d, u, accuracy in points]
    for s, d, u, accuracy in [*rules, (m.solution, m.disparity, m.utility, m.accuracy)]:
        disparity, utility = counted(s.classifier, *table, notion, costs)
        # of several rules at a point's multipliers one may be more useful
        assert disparity <= d + 1e-10 and utility >= u - 1e-10
        assert utility == pytest.approx(u, abs=1e-9)
        assert counted(s.classifier, *table, notion)[1] == pytest.approx(accuracy - 1, abs=1e-9)
        again = ff.solve(fed, scheme, multipliers=s.multipliers, **question)
        worst = max(c.worst for c in again.certificates)
        assert again.multipliers.tolist() == s.multipliers.tolist() and worst <= 1e-12


def integrated(rule: ff.Classifier, fed: ff.Federation) -> tuple[float, float]:
    """MD and accuracy of a rule on LAWS by the trapezoidal rule."""
    rates, accuracy, eta = np.zeros(2), 0.0, scipy.special.expit(X)
    density = np.exp(-((X - np.array(LAWS)[..., None]) ** 2) / 2) / np.sqrt(2 * np.pi)
    for a in range(2):
        f = rule(X, a)
        pooled = fed.weight @ density[:, a]
        rates[a] = np.trapezoid(f * pooled, X)
        accuracy += 0.5 * np.trapezoid((f * eta + (1 - f) * (1 - eta)) * pooled, X)
    return abs(rates[0] - rates[1]), accuracy


def test_points_that_no_double_budget_gives_have_their_rules() -> None:
    fed = ff.Federation.normal(LAWS, sd=1, q=0.5, weight=[1, 2])
    F = pickle.loads(pickle.dumps(ff.frontier(fed, "lft_ensemble", 4)))
    m = ff.min_disparity(fed, "lft_ensemble")
    assert not m.reproduced and not F.reproduced[:-1].any()
    assert ff.solve(fed, "lft_ensemble", m.eps).disparity > 8e-4
    points = [(F.classifier_at(d), d, w) for d, w in zip(F.disparity, F.accuracy, strict=True)]
    for rule, d, accuracy in [*points, (m.classifier, m.disparity, m.accuracy)]:
        # a cut is met to half a step of X, where the pooled density is at most 0.27
        assert integrated(rule, fed) == pytest.approx((d, accuracy), abs=1e-4)
    assert m.multipliers is not None
    s = ff.solve(fed, "lft_ensemble", multipliers=m.multipliers)
    assert (s.disparity, s.accuracy) == pytest.approx((m.disparity, m.accuracy), abs=1e-12)


@pytest.mark.parametrize("scheme", ["cfl", "client_aware", "lft_fedavg", "lft_ensemble"])
def test_multipliers_on_laws_give_their_solution(scheme) -> None:
    fed = ff.Federation.normal([[1.0, -0.5], [-0.3, 0.8]], sd=1, q=[0.3, 0.6])
    question: dict[str, Any]
    for question in ({}, {"notion": "eo", "costs": (2, 1)}):
        F = ff.frontier(fed, scheme, 3, **question)
        s = F.solution_at(F.disparity[1])
        again = ff.solve(fed, scheme, multipliers=s.multipliers, **question)
        assert again.utility == pytest.approx(F.utility[1], abs=1e-9)
        assert again.disparity == pytest.approx(F.disparity[1], abs=1e-9)


def test_multipliers_that_are_no_solution_s_are_refused() -> None:
    fed = ff.Federation.normal([[1.0, -0.5], [-0.3, 0.8]], sd=1)
    s = ff.solve(fed, "lft_fedavg", 0.05)
    for arguments, message in [
        ({"multipliers": -s.multipliers}, "the other sign than its difference"),
        ({"multipliers": [0.1, 0.1, 0.1]}, r"multipliers must have shape \(2,\)"),
        ({"eps": 0.1, "multipliers": s.multipliers}, "multipliers take no eps"),
        ({}, "eps must be given"),
    ]:
        with pytest.raises(ValueError, match=message):
            ff.solve(fed, "lft_fedavg", **arguments)


TASKS = [("dp", 2, "xa", (1, 1)), ("eodds", 2, "xa", (1, 1)), ("dp", 3, "xa", (2, 1))]


@pytest.mark.parametrize(("notion", "groups", "sees", "costs"), TASKS)
@pytest.mark.parametrize("is_finite", [True, False])
@pytest.mark.every(2)
def test_prices_are_derivatives_of_the_utility(is_finite, notion, groups, sees, costs) -> None:
    rng = np.random.default_rng(3)
    if is_finite:
        masses = rng.random((3, groups, 8))
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        fed = ff.Federation.finite(np.arange(8), masses, rng.random(8))
    else:
        mean, q = rng.normal(size=(3, groups)), rng.dirichlet(np.full(groups, 5.0), 3)
        fed = ff.Federation.normal(mean, 1.0, q=q[:, 0] if groups == 2 else q)

    def utility(scheme, eps, local=None) -> float:
        return ff.solve(fed, scheme, eps, local_eps=local, **kw).utility

    kw = {"notion": notion, "sees": sees, "costs": costs}
    step, eps, local = 1e-5, np.array([0.03, 0.05, 0.04]), np.array([0.06, 0.1, 0.08])
    s = ff.solve(fed, "lft_fedavg", eps, **kw)
    t = ff.solve(fed, "client_aware", 0.02, local_eps=local, **kw)
    assert t.local_prices is not None and s.local_prices is None
    for i, ahead in enumerate(step * np.eye(3)):
        two = [utility("lft_fedavg", eps + sign * ahead) for sign in (1, -1)]
        assert s.prices[i] == pytest.approx((two[0] - two[1]) / (2 * step), abs=1e-6)
        two = [utility("client_aware", 0.02, local + sign * ahead) for sign in (1, -1)]
        assert t.local_prices[i] == pytest.approx((two[0] - two[1]) / (2 * step), abs=1e-6)
    two = [utility("client_aware", 0.02 + sign * step, local) for sign in (1, -1)]
    assert t.prices == pytest.approx([(two[0] - two[1]) / (2 * step)], abs=1e-6)
    assert s.prices.max() > 0 and t.prices.max() > 0
    with pytest.raises(ValueError, match="ensemble's multipliers"):
        _ = ff.solve(fed, "lft_ensemble", eps, **kw).prices
