"""LFT+FedAvg's frontier and smallest disparity on densities: certified points, the best that the
search over multipliers found.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.density_rules import Rules
from fairfl.solvers.frontier import Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_fedavg.densities_search import (
    APART,
    COARSE,
    MultiplierSearch,
    below,
    ordered,
)
from fairfl.solvers.lft_fedavg.densities_ties import TiedRules
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import LAW_TOLERANCE, CertificationError
from fairfl.theory.populations.federation import Federation

DENSE = 60
"""Of fewer points, answers between them start from as many rules."""


def fedavg_frontier(
    fed: Federation, task: Task, points: int, effort: str = "ordinary"
) -> tuple[Frontier, Points]:
    """LFT+FedAvg's frontier: certified points, the best that a search over multipliers found; and
    the solution at budgets of zero, to check it by.
    """
    search = MultiplierSearch.of(fed, task, effort)
    free, top = search.free, float(search.free.disparity[0])
    found = search.at(np.append(-np.inf, search.targets(COARSE)), search.starts)
    common = search.common
    low = search.lowest(found.join(common))
    known = rules = ordered(low.join(free))
    if top - low.disparity[0] > LAW_TOLERANCE:
        targets = np.linspace(float(low.disparity[0]), top, points)[:-1]
        known = search.settled(targets, ordered(found.join(rules)))
        chord = np.interp(common.disparity, known.disparity, known.accuracy)
        known = ordered(known.join(common))
        if (common.accuracy > chord + APART).any():
            known = search.settled(targets, known)
        rules = ordered(below(known, targets).join(free))
    ties = TiedRules.of(search.family)
    attained = search.certified(rules).join(at_ties(search, ties, np.zeros(0)))
    if not attained.disparity.size:
        raise CertificationError("no solution of lft_fedavg is certified on this federation")
    ends = float(attained.disparity.min()), top
    attained = attained.join(at_ties(search, ties, np.linspace(*ends, points)[:-1]))

    @cache
    def dense() -> Rules:
        more = np.linspace(*ends, DENSE)[:-1]
        return search.settled(more, known) if points < DENSE else known

    def evaluate(d: Array) -> Points:
        # each from the same rules: no answer depends on what else is asked
        rules, out = search.between(d, dense()), attained.take([])
        for k, own in enumerate(d[:, None]):
            found = search.certified(rules.take(np.array([k]))).join(at_ties(search, ties, own))
            out = out.join(fitting(attained.join(found), own))
        return out

    return build("lft_fedavg", attained, evaluate), search.fair()


def at_ties(search: MultiplierSearch, ties: TiedRules | None, disparity: Array) -> Points:
    """Where a whole group ties the fairest rule, and the best with at most the disparities."""
    budgets = [] if ties is None else [ties.fairest(), *map(ties.best, disparity)]
    known = [eps[np.argsort(search.order)] for eps in budgets if eps is not None]
    return points_of(search.fed, search.solved(np.array(known)))


def fedavg_minimum(fed: Federation, task: Task) -> Points:
    """The least disparate solution, certified; of several fair ones an accurate one.

    It starts from nothing where it can, and so is just what ``solve`` returns for its budgets.
    """
    search = MultiplierSearch.of(fed, task)
    found = search.at(np.append(-np.inf, search.targets(1)), search.starts)
    low = search.lowest(found.join(search.common))
    point = search.points(low)
    attained = search.solved(point.eps) or search.solved(point.eps, point.multipliers)
    tied = at_ties(search, TiedRules.of(search.family), np.zeros(0))
    return points_of(fed, attained).join(tied).least
