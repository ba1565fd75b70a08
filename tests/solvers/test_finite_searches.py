"""Local training's frontiers on a finite X by search, for every notion and any number of groups: no
budgets beat them, and of two groups with one rate they are the exact ones.
"""

from __future__ import annotations

import numpy as np
import pytest
from audit import random_budgets
from tasks import asked, beaten, federation

import fairfl as ff
from fairfl.solvers.lft_ensemble import finite_branch_and_bound as search
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.lft_fedavg.finite_exact import ExactFedAvg
from fairfl.solvers.lft_fedavg.finite_search import FedAvgSearch
from fairfl.solvers.problem import Task

LOCAL = ("lft_ensemble", "lft_fedavg")
TOLERANCE = 1e-9
"""What budgets may be better than the search by: docs/exactness.md."""
EXACT = [
    (scheme, seed, notion, 2)
    for scheme, seeds in (("lft_ensemble", (100, 201)), ("lft_fedavg", (101, 200)))
    for seed in seeds
    for notion in ("demographic_parity", "true_positive_rate_parity", "false_positive_rate_parity")
]
"""Two groups with one rate: frontiers that are proven."""


def drawn(scheme, seed, **given):
    """A federation and what is asked of it. An ensemble's members have one optimum: every client
    has everybody, and η is by client and group.
    """
    rng = np.random.default_rng(seed)
    fed = federation(rng, **given)
    more = asked(rng, fed, scheme)[2]
    if scheme == "lft_ensemble":
        masses = rng.gamma(1.0, size=(fed.n_clients, fed.n_groups, int(rng.integers(2, 7)))) + 0.01
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        points = np.arange(masses.shape[2])
        fed = ff.Federation.finite(points, masses, rng.random(masses.shape), fed.weight)
    return fed, more


def lost(scheme, fed, more, seed, count):
    """By how much random budgets beat the frontier."""
    rng = np.random.default_rng(seed)
    return beaten(fed, scheme, more, random_budgets(fed, count, rng, more["notion"]), 4)


@pytest.mark.parametrize(
    ("scheme", "seed", "notion", "groups"),
    [
        ("lft_ensemble", 1, "equalized_odds", 2),
        ("lft_ensemble", 1, "accuracy_parity", 3),
        ("lft_fedavg", 3, "equalized_odds", 3),
        ("lft_fedavg", 3, "accuracy_parity", 2),
        *EXACT,
    ],
)
def test_no_budgets_beat_the_frontier(scheme, seed, notion, groups):
    fed, more = drawn(scheme, seed, clients=2 + seed // 100 % 2, groups=groups)
    assert lost(scheme, fed, {**more, "notion": notion}, seed, 8) <= TOLERANCE


@pytest.mark.deep
@pytest.mark.parametrize("scheme", LOCAL)
@pytest.mark.parametrize("seed", range(40))
def test_no_budgets_beat_many_frontiers(scheme, seed):
    assert lost(scheme, *drawn(scheme, seed), seed, 100) <= TOLERANCE


def against_exact(scheme, seed, **given):
    """By how much the frontier of two groups with one rate differs from the exact one."""
    fed, more = drawn(scheme, seed, groups=2, **given)
    notions = ("demographic_parity", "true_positive_rate_parity", "accuracy_parity")
    notion = notions[seed % (3 if scheme == "lft_ensemble" else 2)]
    task = Task.of(fed, scheme, notion, more["difference"], more["costs"], more["sees"])
    if scheme == "lft_fedavg":
        exact = ExactFedAvg.of(fed, task).frontier(9)
        F = FedAvgSearch.of(fed, task).frontier(5)
    else:
        exact = Segments.of(fed, task).frontier(9)
        with pytest.MonkeyPatch.context() as patch:  # corners are found, not read from the paths
            patch.setattr(search, "_of_path", search._of_solutions)
            F = Segments.of(fed, task).frontier(5)
    d = np.maximum(exact.disparity, F.disparity[0])
    apart = F.utility_at(d) - exact.utility_at(d)
    return max(float(np.abs(apart).max()), abs(F.disparity[0] - exact.disparity[0]))


@pytest.mark.parametrize(
    ("scheme", "seed"), [("lft_ensemble", 0), ("lft_ensemble", 2), ("lft_fedavg", 1)]
)
def test_the_search_finds_the_exact_frontier_of_two_groups(scheme, seed):
    assert against_exact(scheme, seed, clients=3) <= TOLERANCE


@pytest.mark.deep
@pytest.mark.parametrize("scheme", LOCAL)
def test_the_search_finds_many_exact_frontiers(scheme):
    assert max(against_exact(scheme, seed, clients=2 + seed % 4) for seed in range(40)) <= TOLERANCE
