"""Where a client has several optima on densities, ``solve`` takes the one nearest to a coin toss:
by a linear programme on cells, and whatever the order of clients, the names of groups and the
multipliers to begin with.
"""

from typing import Any

import numpy as np
import pytest
import scipy
from scipy.stats import norm

import fairfl as ff
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.task import Task

CELLS = 500
CLOSE = 2e-4
"""What rules that are constant on cells leave of the distance to a toss: 6e-5 was seen."""
SAME = 1e-11
"""Rounding of members; where the path of a solver chooses they differ by up to 0.1."""
NEAR, STEEPEST = 1e-9, 1e-6
"""Budgets this close, and what rules of them differ by: 1e-2 and more where HiGHS chooses."""


def law(seed: int, clients: int, groups: int) -> tuple[Any, ...]:
    rng = np.random.default_rng([seed, clients, groups])
    mean, sd = rng.normal(0, 2, (clients, groups)), rng.uniform(0.5, 2.5, (clients, groups))
    return mean, sd, rng.dirichlet(3.0 * np.ones(groups), clients), rng.uniform(0.3, 2, clients)


def counted(mean: float, sd: float, notion: str) -> tuple[Any, Any]:
    """Middles of cells, and what each adds to the notion's rates of its group."""
    ends = np.linspace(mean - 8 * sd, mean + 8 * sd, CELLS + 1)
    mass, middle = np.diff(norm(mean, sd).cdf(ends)), (ends[1:] + ends[:-1]) / 2
    eta = ff.Logistic()(middle)
    if notion == "accuracy_parity":
        return middle, (mass * (2 * eta - 1))[None]
    rates = np.stack([mass * eta, mass * (1 - eta)])
    return middle, rates / rates.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("notion", ["eodds", "accuracy_parity"])
@pytest.mark.parametrize("seed", range(3))
def test_no_rule_with_the_same_rates_is_nearer_to_a_toss(seed: int, notion: str) -> None:
    mean, sd, share, weight = law(seed, 1, 2)
    rule = ff.solve(
        ff.Federation.normal(mean, sd, share, weight), "cfl", 0.0, notion=notion
    ).classifier
    tied = [a for a in range(2) if 0 < rule(0.0, a) < 1]
    assert len(tied) == 1  # the other group is served as well as it could be at its rates
    a = tied[0]
    x, rates = counted(mean[0, a], sd[0, a], notion)
    f = rule(x, a)
    assert np.unique(np.round(np.abs(f - 0.5), 12)).size == 1  # two values, one of them 1 - other
    nearest = scipy.optimize.linprog(  # the least t with |f - 1/2| <= t
        np.append(np.zeros(CELLS), 1.0),
        A_eq=np.pad(rates, ((0, 0), (0, 1))),
        b_eq=rates @ f,
        A_ub=np.block(
            [[np.eye(CELLS), -np.ones((CELLS, 1))], [-np.eye(CELLS), -np.ones((CELLS, 1))]]
        ),
        b_ub=np.append(np.full(CELLS, 0.5), np.full(CELLS, -0.5)),
    )
    assert abs(f[0] - 0.5) == pytest.approx(nearest.fun, abs=CLOSE)


@pytest.mark.parametrize("difference", ["pairwise", "overall"])
@pytest.mark.parametrize("notion", ["eodds", "accuracy_parity"])
@pytest.mark.parametrize(("seed", "clients", "groups"), [(0, 2, 2), (1, 2, 3)])
@pytest.mark.every(8)
def test_members_follow_from_the_problem(
    seed: int, clients: int, groups: int, notion: str, difference: Any
) -> None:
    mean, sd, share, weight = law(seed, clients, groups)
    fed, rng = ff.Federation.normal(mean, sd, share, weight), np.random.default_rng(seed)
    order, names = rng.permutation(clients), np.roll(np.arange(groups), 1)
    permuted = ff.Federation.normal(mean[order], sd[order], share[order], weight[order])
    relabelled = ff.Federation.normal(mean[:, names], sd[:, names], share[:, names], weight)
    for eps in (0.0, 0.05):
        s = ff.solve(fed, "lft_ensemble", eps, notion=notion, difference=difference)
        for equivalent in (permuted, relabelled):
            t = ff.solve(equivalent, "lft_ensemble", eps, notion=notion, difference=difference)
            assert (t.disparity, t.utility) == pytest.approx((s.disparity, s.utility), abs=SAME)
        alone, budget = fed.alone(0), np.array([eps])
        task, x = Task.of(alone, "cfl", notion, difference), np.linspace(-4, 4, 101)
        cold = solve_by_dual(alone, task, budget)
        for start in rng.normal(0, 0.2, (2, cold.multipliers.size)):
            warm = solve_by_dual(alone, task, budget, start=start)
            for a in range(groups):
                np.testing.assert_allclose(warm.classifier(x, a), cold.classifier(x, a), atol=SAME)


@pytest.mark.parametrize("difference", ["pairwise", "overall"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.every(6)
def test_members_change_little_when_budgets_do(seed: int, difference: Any) -> None:
    """Limits of three groups add up, so that not all bind, and a rounding of a multiplier does not:
    rules at budgets next to each other, from each other's multipliers, are next to each other.
    """
    mean, sd, share, weight = law(seed, 1, 3)
    fed, x = ff.Federation.normal(mean, sd, share, weight), np.linspace(-4, 4, 101)
    task = Task.of(fed, "cfl", "accuracy_parity", difference)
    free = solve_by_dual(fed, task, np.ones(1)).disparity
    for eps in (5e-9, *(free * np.linspace(0.02, 0.9, 6))):
        s = solve_by_dual(fed, task, np.array([eps]))
        t = solve_by_dual(fed, task, np.array([eps + NEAR]), start=s.multipliers)
        for a in range(3):
            np.testing.assert_allclose(t.classifier(x, a), s.classifier(x, a), atol=STEEPEST)
