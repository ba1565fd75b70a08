"""LFT+FedAvg's frontier and smallest disparity on densities: certified points, the best that the
search over multipliers found; the smallest is zero where clients share q (FedFB, theorem 21).
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.density_rules import Rules
from fairfl.solvers.frontier import SLACK_BUDGET, Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_fedavg.densities_search import COARSE, MultiplierSearch, below, ordered
from fairfl.solvers.lft_fedavg.densities_ties import TiedRules
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import LAW_TOLERANCE, Solution
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation


def fedavg_frontier(fed: Federation, task: Task, points: int, effort: str = "ordinary") -> Frontier:
    """LFT+FedAvg's frontier: certified points, the best that a search over multipliers found."""
    search = MultiplierSearch.of(fed, task, effort)
    free, top = search.free, float(search.free.disparity[0])
    found = search.at(np.append(-np.inf, search.targets(COARSE)), search.starts)
    low = search.lowest(found)
    known = rules = ordered(low.join(free))
    if top - low.disparity[0] > LAW_TOLERANCE:
        targets = np.linspace(float(low.disparity[0]), top, points)[:-1]
        known = search.settled(targets, ordered(found.join(rules)))
        rules = ordered(below(known, targets).join(free))
        low = below(known, low.disparity)
    ties = TiedRules.of(search.family)
    attained = points_of(fed, fairest(search, low, ties)).join(search.certified(rules))
    ends = float(attained.disparity.min()), top
    attained = attained.join(at_ties(search, ties, np.linspace(*ends, points)[:-1]))

    def evaluate(d: Array) -> Points:
        nonlocal known  # what is found once is not lost: later answers are no less accurate
        known = search.settled(d, known)
        return fitting(search.certified(below(known, d)).join(at_ties(search, ties, d)), d)

    return build("lft_fedavg", attained, evaluate)


def at_ties(search: MultiplierSearch, ties: TiedRules | None, disparity: Array) -> Points:
    """The best rules with at most the disparities where a whole group ties; none without ties."""
    budgets = [] if ties is None else [ties.best(float(d)) for d in disparity]
    known = [eps[np.argsort(search.order)] for eps in budgets if eps is not None]
    return points_of(search.fed, search.solved(np.array(known)))


def fedavg_minimum(fed: Federation, task: Task) -> Points:
    """The least disparate solution, certified; of several fair ones an accurate one."""
    search = MultiplierSearch.of(fed, task)
    ties = TiedRules.of(search.family)
    low = search.lowest(search.at(np.append(-np.inf, search.targets(1)), search.starts))
    return points_of(fed, fairest(search, low, ties)).least


def fairest(search: MultiplierSearch, low: Rules, ties: TiedRules | None) -> list[Solution]:
    """Certified solutions of the smallest disparity; where a tie spoils that of ``low``, the one
    that must be fair, and the least disparate one at ``ties``.

    They start from nothing, and so are just what ``solve`` returns for their budgets.
    """
    point = search.points(low)
    found = search.solved(point.eps) or search.solved(point.eps, point.multipliers)
    eps = None if ties is None else ties.fairest()
    found += [] if eps is None else search.solved(eps[np.argsort(search.order)][None])
    if common_shares(search.fed, search.task) and not (
        found and found[0].disparity <= LAW_TOLERANCE
    ):
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
