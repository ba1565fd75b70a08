"""Random federations: what must hold on every frontier and minimum, to documented tolerances."""

from typing import Any

import numpy as np
import pytest
from audit import KINDS, Densities, Finite, Odds, audit

import fairfl as ff
from fairfl.solvers.lft_fedavg.finite_search import FedAvgSearch
from fairfl.solvers.task import Task

EXACT, SEARCHED = 1e-9, 1e-6
"""Allowed on a finite X and by the search on densities, as docs/exactness.md has it; everything
else is exact.
"""
ON_DENSITIES = (
    "random budgets not certified (share)",
    "points not reproduced (share)",
    "minimum not reproduced",
)
"""Not claimed there, and said of each result."""
SCATTERED = 3e-4
"""Allowed by the search on densities from four clients on."""
SOLVED_AGAIN = 1e-7
TIED = ("points not reproduced (share)", "minimum not reproduced")
"""Where values of η repeat: of several rules that are optimal for a point's budgets LFT+FedAvg's
``solve`` takes the one nearest to a coin toss, the frontier the least disparate.
"""
MANY_BASINS = ("groups relabelled", "clients permuted")
"""On densities the search may end on another of several maxima: docs/exactness.md says by how
much.
"""


def check_federation(kind: str, seed: int, **settings: Any) -> None:
    figures = audit(kind, seed, **settings)
    names = {"frontier above CFL's", "accuracy_at falls", "random budgets beat the frontier"}
    assert names <= {name for _, name in figures}
    specification: Any = KINDS[kind].random(np.random.default_rng([seed, list(KINDS).index(kind)]))
    tied = kind != "finite" or np.unique(specification.eta).size < specification.eta.size
    close = SEARCHED if len(specification.weight) < 4 else SCATTERED
    for (scheme, name), figure in figures.items():
        is_fedavg = scheme == "lft_fedavg"
        is_searched = is_fedavg and kind != "finite"
        if kind != "finite" and name in ON_DENSITIES or is_fedavg and tied and name in TIED:
            continue
        if is_searched and name.startswith(MANY_BASINS):
            continue
        is_searched &= "beat" in name or "begins below" in name
        allowed = SOLVED_AGAIN if "again" in name else close if is_searched else EXACT
        assert figure <= allowed, (kind, seed, scheme, name, figure)


# 81: multipliers of 170; 91: masses of 1e-11, which HiGHS takes for zero; 130: a jump over MD = 0
# in an ensemble; 189: budgets between two doubles; 240, 569: many ties; 369: the smallest
# disparity is where one client alone is bound, to zero
@pytest.mark.slow
@pytest.mark.parametrize("seed", (569, 6, 81, 91, 189, 130, 240, 369, 2))
@pytest.mark.every(5)
def test_on_a_finite_x(seed: int) -> None:
    check_federation("finite", seed, budgets=6, points=3)


def test_what_a_small_disparity_finds_is_known_at_zero() -> None:
    """12 points missed 0.0136 of accuracy at disparity 0, found when asked at 0.003."""
    fed = Finite.random(np.random.default_rng([645, 0])).build()
    frontier = ff.frontier(fed, "lft_fedavg", 12)
    before = frontier.accuracy_at(0.0)
    frontier.accuracy_at(np.geomspace(1e-5, frontier.disparity[-1], 40))
    assert frontier.accuracy_at(0.0) <= before + EXACT


@pytest.mark.deep
def test_the_names_of_groups_do_not_change_the_smallest_disparity() -> None:
    """The least disparate rules of many faces were one rule; climbs began from it alone, and ended
    at 0.0267 with the groups named otherwise.
    """
    specification = Finite.random(np.random.default_rng([1308, 0]))
    smallest = []
    for variant in (specification, specification.relabelled()):
        fed = variant.build()
        search = FedAvgSearch.of(fed, Task.of(fed, "lft_fedavg"))
        assert search.lowest is not None
        smallest.append(search.lowest.disparity)
    assert smallest[0] == pytest.approx(smallest[1], abs=EXACT)


@pytest.mark.deep
def test_budgets_beside_the_best_are_tried_on_densities() -> None:
    """From the best rules at its disparity no step leads to this one, 0.0077 more accurate: client
    2 has half of what it has free, beside where it has all or nothing.
    """
    fed = Densities.random(np.random.default_rng([168, 1])).build()
    s = ff.solve(fed, "lft_fedavg", [1.0, 0.019504, 0.59541])
    frontier = ff.frontier(fed, "lft_fedavg", 2)
    assert frontier.accuracy_at(s.disparity) >= s.accuracy - SEARCHED


@pytest.mark.deep
def test_narrow_laws_under_equalised_odds() -> None:
    """The frontier had two points, and a solution was 0.0048 more accurate at its disparity."""
    mean = np.array([[-3.3013, -0.9666], [3.8255, -7.8676]])
    sd, q = np.array([[0.0373, 0.011], [12.0943, 0.0979]]), np.array([0.9244, 0.4427])
    eta = np.ones((2, 2)), np.zeros((2, 2)), 0.1409, 0.9454, -1.1068
    fed = Odds(mean, sd, q, np.ones(2), *eta).build()
    s = ff.solve(fed, "lft_fedavg", [0.22, 1], notion="eodds")
    frontier = ff.frontier(fed, "lft_fedavg", 4, notion="eodds")
    assert frontier.disparity.size == 4
    assert frontier.accuracy_at(s.disparity) >= s.accuracy - EXACT


@pytest.mark.slow
def test_on_densities() -> None:
    check_federation("densities", 1, budgets=4, points=3)


MANY = {
    "finite": (range(100, 150), {}),
    "densities": ((*range(100, 105), 9, 20, 31, 37, 40, 45), {}),
    "odds": (range(10), {"budgets": 30, "points": 6, "schemes": ("lft_fedavg",)}),
}


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "seed"), [(k, seed) for k in MANY for seed in MANY[k][0]])
def test_many(kind: str, seed: int) -> None:
    check_federation(kind, seed, **MANY[kind][1])


def test_fair_rules_at_the_ends_of_their_multipliers() -> None:
    """Of clients of one q and η, a fair λ within a rounding of ±m: one λ for all lost 0.0034."""
    check_federation("densities", 37, budgets=100, points=12, schemes=("lft_ensemble",))
