"""LFT+FedAvg's frontier by faces, for every notion and any number of groups: no budgets beat it,
and of two groups with one rate it is the exact one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audit import random_budgets
from populations import finite_model
from scipy import optimize
from tasks import asked, beaten, federation

import fairfl as ff
from fairfl.solvers.lft_fedavg.finite_exact import ExactFedAvg
from fairfl.solvers.lft_fedavg.finite_search import FedAvgSearch
from fairfl.solvers.problem import Task

TOLERANCE = 1e-9
"""What budgets may be better than the search by: docs/exactness.md."""


def drawn(seed: int, **given: Any) -> tuple[ff.Federation, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    fed = federation(rng, **given)
    return fed, asked(rng, fed, "lft_fedavg")[2]


def lost(fed: ff.Federation, more: dict[str, Any], seed: int, count: int) -> float:
    """By how much random budgets beat the frontier."""
    budgets = random_budgets(fed, count, np.random.default_rng(seed), more["notion"])
    return beaten(fed, "lft_fedavg", more, budgets, 5)


GENERAL = [("equalized_odds", 3), ("accuracy_parity", 2)]


@pytest.mark.parametrize(("notion", "groups"), GENERAL)
def test_no_budgets_beat_the_frontier(notion: str, groups: int) -> None:
    fed, more = drawn(3, clients=2, groups=groups)
    assert lost(fed, {**more, "notion": notion}, 3, 6) <= TOLERANCE


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(40))
def test_no_budgets_beat_many_frontiers(seed: int) -> None:
    fed, more = drawn(seed)
    assert lost(fed, more, seed, 100) <= TOLERANCE


def against_exact(seed: int, **given: Any) -> tuple[float, float]:
    """By how much the face's frontier of two groups with one rate is above and below the exact."""
    fed, more = drawn(seed, groups=2, **given)
    notion = ("demographic_parity", "true_positive_rate_parity")[seed % 2]
    costs, sees = more["costs"], more["sees"]
    task = Task.of(fed, "lft_fedavg", notion, more["difference"], costs, sees)
    exact = ExactFedAvg.of(fed, finite_model(fed), task).frontier(9)
    F = FedAvgSearch.of(fed, finite_model(fed), task).frontier(5)
    d = np.clip(exact.disparity, F.disparity[0], None)
    apart = F.utility_at(d) - exact.utility_at(d)
    low = F.disparity[0] - exact.disparity[0]
    return max(apart.max(), -low), max(-apart.min(), low)


@pytest.mark.parametrize("seed", [1])
def test_faces_find_the_exact_frontier_of_two_groups(seed: int) -> None:
    above, below = against_exact(seed, clients=3)
    assert above <= TOLERANCE and below <= TOLERANCE


@pytest.mark.deep
def test_faces_find_many_exact_frontiers() -> None:
    above, below = np.transpose([against_exact(seed, clients=2 + seed % 4) for seed in range(40)])
    assert above.max() <= TOLERANCE and below.max() <= TOLERANCE


@pytest.mark.parametrize("seed", range(20))
def test_of_tied_optima_of_three_groups_solve_takes_the_least_disparate(seed: int) -> None:
    """Against all rules that keep the budgets and the utility, pair by pair."""
    rng = np.random.default_rng(seed)
    clients, n = int(rng.integers(2, 4)), 5
    masses = rng.integers(0, 4, (clients, 3, n)) + (np.arange(n) == 0)
    masses = masses / masses.sum(axis=(1, 2), keepdims=True)
    eta = rng.choice([0.25, 0.5, 0.75], n)
    fed = ff.Federation.finite(np.arange(n), masses, eta)
    s = ff.solve(fed, "lft_fedavg", 0.2)
    people = masses / clients
    gain = (people.sum(axis=0) * (2 * eta - 1)).ravel()
    rows, limits = [-gain], [1e-10 - (s.utility + people.sum(axis=(0, 1)) @ eta)]
    for who in ([i] for i in range(clients)):
        rows += pairs(people[who].sum(axis=0))
        limits += [0.2] * (len(rows) - len(limits))
    table = np.pad(np.array(rows), ((0, 0), (0, 1)))
    pooled = np.pad(np.array(pairs(people.sum(axis=0))), ((0, 0), (0, 1)), constant_values=-1.0)
    found = optimize.linprog(
        np.append(np.zeros(3 * n), 1.0),
        A_ub=np.concatenate([table, pooled]),
        b_ub=np.append(limits, np.zeros(len(pooled))),
        bounds=(0, 1),
    )
    assert found.success and s.disparity <= found.fun + 1e-6


def pairs(people: Any) -> list[Any]:
    """The differences between two groups' rates, both ways, from masses (3, n)."""
    rates = [np.zeros_like(people) for _ in people]
    for a, rate in enumerate(rates):
        rate[a] = people[a] / people[a].sum()
    return [(one - two).ravel() for one in rates for two in rates if one is not two]
