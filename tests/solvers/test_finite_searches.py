"""Local training's frontiers on a finite X by search, for every notion and any number of groups: no
budgets beat them, and of two groups with one rate they are the exact ones.
"""

import numpy as np
import pytest
from audit import random_budgets
from tasks import NOTIONS, beaten, federation, random_question

import fairfl as ff
from fairfl.solvers.lft_ensemble import finite_branch_and_bound as search
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.lft_fedavg import finite_exact
from fairfl.solvers.lft_fedavg.finite_search import FedAvgSearch
from fairfl.solvers.task import Task

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


def random_task(scheme, seed, **sizes):
    """A federation and a question; an ensemble's members have one optimum (everybody is there)."""
    rng = np.random.default_rng(seed)
    fed = federation(rng, **sizes)
    task = random_question(rng, fed, scheme)[2]
    if scheme == "lft_ensemble":
        masses = rng.gamma(1.0, size=(fed.n_clients, fed.n_groups, int(rng.integers(2, 7)))) + 0.01
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        points = np.arange(masses.shape[2])
        fed = ff.Federation.finite(points, masses, rng.random(masses.shape), fed.weight)
    return fed, task


@pytest.mark.parametrize(
    ("scheme", "seed", "notion", "groups"),
    [
        ("lft_ensemble", 1, "equalized_odds", 2),
        ("lft_ensemble", 1, "accuracy_parity", 3),
        ("lft_fedavg", 3, "equalized_odds", 3),
        ("lft_fedavg", 3, "accuracy_parity", 2),
        *EXACT,
        *(
            pytest.param(scheme, seed, notion, None, marks=pytest.mark.deep)
            for seed, notion in enumerate(4 * [*NOTIONS])
            for scheme in LOCAL
        ),
    ],
)
def test_no_budgets_beat_the_frontier(scheme, seed, notion, groups):
    fed, task = random_task(scheme, seed, clients=2 + seed // 100 % 2, groups=groups)
    rng = np.random.default_rng(seed)
    budgets = random_budgets(fed, 8, rng, notion)
    assert beaten(fed, scheme, {**task, "notion": notion}, budgets, 4) <= TOLERANCE


def against_exact(scheme, seed, **sizes):
    """By how much the frontier of two groups with one rate differs from the exact one."""
    fed, options = random_task(scheme, seed, groups=2, **sizes)
    notions = ("demographic_parity", "true_positive_rate_parity", "accuracy_parity")
    notion = notions[seed % (3 if scheme == "lft_ensemble" else 2)]
    task = Task.of(fed, scheme, notion, options["difference"], options["costs"], options["sees"])
    if scheme == "lft_fedavg":
        exact = FedAvgSearch.of(fed, task).frontier(9)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(finite_exact, "CLIENTS", 0)
            F = FedAvgSearch.of(fed, task).frontier(5)
    else:
        exact = Segments.of(fed, task).frontier(9)
        with pytest.MonkeyPatch.context() as patch:  # corners are found, not read from the paths
            patch.setattr(search, "_of_path", search._of_solutions)
            F = Segments.of(fed, task).frontier(5)
    d = np.maximum(exact.disparity, F.disparity[0])
    difference = F.utility_at(d) - exact.utility_at(d)
    return max(float(np.abs(difference).max()), abs(F.disparity[0] - exact.disparity[0]))


@pytest.mark.parametrize("scheme", LOCAL)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.every(27)
def test_the_search_finds_the_exact_frontier_of_two_groups(seed, scheme):
    assert against_exact(scheme, seed, clients=2 + seed % 4) <= TOLERANCE


@pytest.mark.parametrize(("seed", "clients", "atoms"), [(6, 4, 11), (9, 4, 14)])
def test_an_answer_depends_on_no_other(seed, clients, atoms):
    """One by one, downwards, answers were up to 2.4e-3 from those that were asked for together."""
    rng = np.random.default_rng(seed)
    rng.integers([3, 6, 2], [7, 16, 4])
    masses = rng.random((clients, 3, atoms)) ** 3
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    fed = ff.Federation.finite(np.arange(atoms), masses, rng.random((clients, atoms)))
    first, second = (ff.frontier(fed, "lft_fedavg", 6, notion="eodds") for _ in range(2))
    disparity = np.linspace(first.disparity[0], first.disparity[-1], 25)[:-1]
    one_by_one = [second.accuracy_at(d) for d in disparity[::-1]]
    np.testing.assert_allclose(first.accuracy_at(disparity)[::-1], one_by_one, rtol=0, atol=1e-12)
