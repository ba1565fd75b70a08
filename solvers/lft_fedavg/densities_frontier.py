"""LFT+FedAvg's frontier on densities: certified points, the best that the search over multipliers
found.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import Frontier, Points, build, points_of
from fairfl.solvers.lft_fedavg.densities_minimum import fairest
from fairfl.solvers.lft_fedavg.densities_search import (
    COARSE,
    FAIR,
    MultiplierSearch,
    below,
    ordered,
)
from fairfl.solvers.problem import Task
from fairfl.theory.populations.federation import Federation


def fedavg_frontier(fed: Federation, task: Task, points: int) -> Frontier:
    """LFT+FedAvg's frontier: certified points, the best that a search over multipliers found."""
    search = MultiplierSearch.of(fed, task)
    low, free = search.lowest(), search.free
    rules = ordered(low.join(free))
    if free.disparity[0] - low.disparity[0] > FAIR:
        targets = np.linspace(float(low.disparity[0]), float(free.disparity[0]), points)[:-1]
        coarse = targets[:: -(-targets.size // COARSE)]
        if coarse.size < COARSE // 2:  # few points asked for: others lie between
            coarse = np.linspace(targets[0], float(free.disparity[0]), COARSE // 2 + 1)[:-1]
        known = search.settled(
            coarse, ordered(search.at(coarse, search.starts.join(low)).join(rules))
        )
        found = search.refined(targets, known)
        rules = rules.join(found)
        known = ordered(rules.join(known))
    else:
        known = rules
    solved = [*fairest(search, low), *search.solved(rules)]

    def evaluate(d: Array) -> Points:
        nonlocal known  # what is found once is not lost: later answers are no less accurate
        known = ordered(known.join(search.at(d, known.join(search.starts))))
        return search.points(below(known, d))

    return build("lft_fedavg", points_of(fed, solved), evaluate)
