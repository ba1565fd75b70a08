"""LFT+Ensemble's frontier by segments, for every notion and any number of groups: no budgets beat
it, and of two groups with one rate it is the exact one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tasks import asked, beaten, federation

import fairfl as ff
from fairfl.solvers.lft_ensemble import finite_segments
from fairfl.solvers.lft_ensemble.finite_segments import Segments
from fairfl.solvers.problem import Task

TOLERANCE = 1e-9
"""What budgets may be better than the search by, where no member has several optima."""


def untied(seed: int, **given: Any) -> tuple[ff.Federation, dict[str, Any]]:
    """A federation in which every client has everybody, and η is by client and group."""
    rng = np.random.default_rng(seed)
    fed = federation(rng, **given)
    more = asked(rng, fed, "lft_ensemble")[2]
    masses = rng.gamma(1.0, size=(fed.n_clients, fed.n_groups, int(rng.integers(2, 7)))) + 0.01
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    return ff.Federation.finite(
        np.arange(masses.shape[2]), masses, rng.random(masses.shape), fed.weight
    ), more


def lost(fed: ff.Federation, more: dict[str, Any], seed: int, count: int) -> float:
    """By how much random budgets beat the frontier."""
    rng, shape = np.random.default_rng(seed), (count, fed.n_clients)
    budgets = rng.choice([0.0, 1.0, 0.3], shape, p=[0.2, 0.2, 0.6]) * rng.random(shape)
    return beaten(fed, "lft_ensemble", more, budgets, 4)


@pytest.mark.parametrize(("notion", "groups"), [("equalized_odds", 2), ("accuracy_parity", 3)])
def test_no_budgets_beat_the_frontier(notion: str, groups: int) -> None:
    fed, more = untied(1, clients=2, groups=groups)
    assert lost(fed, {**more, "notion": notion}, 1, 8) <= TOLERANCE


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(40))
def test_no_budgets_beat_many_frontiers(seed: int) -> None:
    fed, more = untied(seed)
    assert lost(fed, more, seed, 100) <= TOLERANCE


def against_exact(seed: int, **given: Any) -> float:
    """By how much the frontier of two groups with one rate differs from the exact one."""
    fed, more = untied(seed, groups=2, **given)
    notion = ("demographic_parity", "true_positive_rate_parity", "accuracy_parity")[seed % 3]
    costs, sees = more["costs"], more["sees"]
    task = Task.of(fed, "lft_ensemble", notion, more["difference"], costs, sees)
    exact = Segments.of(fed, task).frontier(9)
    with pytest.MonkeyPatch.context() as patch:  # corners are found, not read from the paths
        patch.setattr(finite_segments, "_of_paths", finite_segments._of_solutions)
        F = Segments.of(fed, task).frontier(5)
    assert F.disparity[0] == pytest.approx(exact.disparity[0], abs=TOLERANCE)
    d = np.maximum(exact.disparity, F.disparity[0])
    return float(np.abs(F.utility_at(d) - exact.utility_at(d)).max())


@pytest.mark.parametrize("seed", [0, 2])
def test_segments_find_the_exact_frontier_of_two_groups(seed: int) -> None:
    assert against_exact(seed, clients=3) <= TOLERANCE


@pytest.mark.deep
def test_segments_find_many_exact_frontiers() -> None:
    assert max(against_exact(seed) for seed in range(40)) <= TOLERANCE
