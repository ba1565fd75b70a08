"""LFT+FedAvg's frontier and smallest disparity on densities: certified points, the best that the
search over multipliers found.
"""

from functools import cache

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import Rules
from fairfl.solvers.frontier import Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_fedavg.densities_search import COARSE, MultiplierSearch, below, ordered
from fairfl.solvers.lft_fedavg.densities_ties import TiedRules
from fairfl.solvers.solution import LAW_TOLERANCE, CertificationError
from fairfl.solvers.task import Task
from fairfl.theory.populations.federation import Federation

DENSE = 60  # points between those of a frontier start from at least so many rules


def fedavg_frontier(
    fed: Federation, task: Task, points: int, effort: str = "ordinary"
) -> tuple[Frontier, Points]:
    """LFT+FedAvg's frontier, and the solution at budgets of zero, to check it by."""
    search = MultiplierSearch.of(fed, task)
    settled, targets = _settled(search, search.free, points)
    if effort != "ordinary":  # more starts lead elsewhere, not always to something better
        search = MultiplierSearch.of(fed, task, effort)
        settled, targets = _settled(search, settled, points)
    top = float(search.free.disparity[0])
    rules = ordered(below(settled, targets).join(search.free))
    ties = TiedRules.of(search.family)
    attained = search.certified(rules).join(at_ties(search, ties, np.zeros(0)))
    if not attained.disparity.size:
        raise CertificationError("no solution of lft_fedavg is certified on this federation")
    smallest = float(attained.disparity.min())
    attained = attained.join(at_ties(search, ties, np.linspace(smallest, top, points)[:-1]))
    fine_targets = np.linspace(smallest, top, DENSE)[:-1]

    @cache
    def starts() -> Rules:  # of every target: none changes another's point
        return settled if points >= DENSE else search.settled(fine_targets, settled)

    def between(disparity: Array) -> Points:
        rules, out = search.between(disparity, starts()), attained.take([])
        for k, target in enumerate(disparity[:, None]):
            tried = search.certified(rules.take(np.array([k])))
            tried = attained.join(tried.join(at_ties(search, ties, target)))
            out = out.join(fitting(tried, target))
        return out

    return build("lft_fedavg", attained, between), search.fair()


def _settled(search: MultiplierSearch, earlier: Rules, points: int) -> tuple[Rules, Array]:
    """The best rules of a search and of the ``earlier`` ones, and the disparities (P,) sought."""
    coarse, even = search.starts, search.targets(COARSE)
    if search.far(even, ordered(coarse)).any():
        coarse = search.at(np.append(-np.inf, even), coarse)
    earlier = ordered(earlier)
    low, top = search.lowest(coarse.join(earlier)), search.free.disparity[0]
    targets = np.linspace(float(low.disparity[0]), float(top), points)[:-1]
    if top - low.disparity[0] <= LAW_TOLERANCE:
        return ordered(low.join(earlier)), targets[:1]
    return search.settled(targets, ordered(coarse.join(low).join(earlier))), targets


def at_ties(search: MultiplierSearch, ties: TiedRules | None, disparity: Array) -> Points:
    """Where a whole group ties the fairest rule, and the best with at most the disparities."""
    budgets = [] if ties is None else [ties.fairest(), *map(ties.best, disparity)]
    reordered = [eps[np.argsort(search.order)] for eps in budgets if eps is not None]
    return points_of(search.fed, search.solved(np.array(reordered)))


def fedavg_minimum(fed: Federation, task: Task) -> Points:
    """The least disparate solution, certified, without a start where that is possible, as by
    ``solve``; of several fair ones an accurate one.
    """
    search = MultiplierSearch.of(fed, task)
    candidates = search.at(np.append(-np.inf, search.targets(1)), search.starts)
    low = search.lowest(candidates)
    point = search.points(low)
    attained = search.solved(point.eps) or search.solved(point.eps, point.multipliers)
    tied = at_ties(search, TiedRules.of(search.family), np.zeros(0))
    return points_of(fed, attained).join(tied).least_disparate
