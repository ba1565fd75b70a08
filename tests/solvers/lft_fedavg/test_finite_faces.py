"""LFT+FedAvg's frontier by faces, for every notion and any number of groups: no budgets beat it,
and of two groups with one rate it is the exact one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
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


def some_budgets(fed: ff.Federation, more: dict[str, Any], seed: int, count: int) -> Any:
    """Uniform, or scaled by the free rule's disparities, some of them 0 and some slack."""
    rng = np.random.default_rng(seed)
    free = np.nan_to_num(ff.solve(fed, "lft_fedavg", 1.0, **more).local_disparities)
    for _ in range(count):
        eps = rng.random(fed.n_clients) * (1.2 * free if rng.random() < 0.7 else 1.0)
        kind = rng.random(fed.n_clients)
        eps[kind < 0.5 * rng.random()] = 0.0
        eps[kind > 1.0 - 0.6 * rng.random()] = 1.0
        yield eps


def lost(fed: ff.Federation, more: dict[str, Any], seed: int, count: int) -> float:
    """By how much random budgets beat the frontier."""
    return beaten(fed, "lft_fedavg", more, some_budgets(fed, more, seed, count), 5)


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
    exact = ExactFedAvg.of(fed, task).frontier(9)
    F = FedAvgSearch.of(fed, task).frontier(5)
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
