"""LFT+FedAvg's smallest disparity on densities: zero where clients share q (FedFB, theorem 21),
else searched for.
"""

from __future__ import annotations

import numpy as np

from fairfl.solvers.frontier import SLACK_BUDGET, Points, points_of
from fairfl.solvers.lft_fedavg.densities_search import FAIR, MultiplierSearch
from fairfl.solvers.numerics.rule_family import Rules
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation


def fedavg_minimum(fed: Federation, task: Task) -> Points:
    """The least disparate solution, certified; of several fair ones an accurate one."""
    search = MultiplierSearch.of(fed, task)
    return points_of(fed, fairest(search, search.lowest())).least


def fairest(search: MultiplierSearch, low: Rules) -> list[Solution]:
    """Certified solutions of the smallest disparity; where a tie spoils that of ``low``, the one
    that must be fair.

    They start from nothing, and so are just what ``solve`` returns for their budgets.
    """
    found = search.solved(low, warm=False) or search.solved(low)
    if common_shares(search.fed, search.task) and not (found and found[0].disparity <= FAIR):
        found.append(search.solve(np.zeros(search.fed.n_clients)))
    return found or [search.solve(np.full(search.fed.n_clients, SLACK_BUDGET))]


def common_shares(fed: Federation, task: Task) -> bool:
    """Whether P(i | a), among those with each rate's event, is the same for all groups: then
    pooled differences are means of the clients', and eps = 0 is fair (FedFB, theorem 21).
    """
    assert isinstance(fed.model, ContinuousModel)
    mass = fed.model.rates(task.notion).mass
    within = mass / mass.sum(axis=1, keepdims=True)
    return bool((mass > 0).all() and np.ptp(within, axis=2).max() <= 1e-15)
