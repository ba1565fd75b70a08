"""LFT+FedAvg's rules where a whole group ties."""

import numpy as np
import pytest

import fairfl as ff
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.lft_fedavg.densities_ties import TiedRules
from fairfl.solvers.task import Task


def world(seed: int) -> ff.Federation:
    """Two clients, both of which serve the first group worse."""
    rng = np.random.default_rng([seed, 2, 2])
    mean, sd = rng.normal(0, 0.2, (2, 2)) + [0.0, 2.0], rng.uniform(0.8, 1.2, (2, 2))
    return ff.Federation.normal(mean, sd, rng.uniform(0.3, 0.7, 2))


def ties(fed: ff.Federation, notion: str) -> TiedRules | None:
    return TiedRules.of(RuleFamily.of(fed, Task.of(fed, "lft_fedavg", notion=notion)))


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
@pytest.mark.every(5)
def test_no_budgets_of_a_tie_are_better(seed: int) -> None:
    """Against random budgets with the tie's multipliers; and more disparity is never worse."""
    fed, rng = world(seed), np.random.default_rng(seed)
    tie, task = ties(fed, "accuracy_parity"), {"notion": "accuracy_parity"}
    assert tie is not None

    def solved(eps: np.ndarray) -> ff.Solution:
        return ff.solve(fed, "lft_fedavg", eps, **task)

    zero, free = solved(np.zeros(2)), solved(np.ones(2))
    best = {d: tie.best(d) for d in np.linspace(0.0, free.disparity, 5)}
    utility = [solved(eps).utility for eps in best.values() if eps is not None]
    assert len(utility) >= 3 and np.diff(utility).min() >= -1e-10
    fairest = tie.fairest()
    assert fairest is not None
    lowest, count = solved(fairest).disparity, 0
    for eps in rng.random((12, 2)) * free.local_disparities:
        s = solved(eps * rng.integers(0, 2, 2))
        if np.abs(s.multipliers - zero.multipliers).max() > 1e-9:
            continue  # no tie
        count += 1
        assert s.disparity >= lowest - 1e-9
        budgets = tie.best(s.disparity)
        assert budgets is not None
        at_tie = solved(budgets)
        assert at_tie.disparity <= s.disparity + 1e-10
        assert at_tie.utility >= s.utility - 1e-10
    assert count >= 2


def test_a_rule_with_one_score_everywhere_is_needed() -> None:
    assert ties(world(0), "demographic_parity") is None
