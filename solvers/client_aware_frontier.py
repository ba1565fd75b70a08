"""The frontier of client-aware rules f(x, a, i), under a global budget and local ones, by
continuation: a convex problem a point.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities import solve_by_dual
from fairfl.solvers.finite import solve_finite
from fairfl.solvers.frontier import Frontier, Points, build
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import Solution, tolerance
from fairfl.theory.populations.federation import Federation


def aware_frontier(fed: Federation, points: int, task: Task, local: Array) -> Frontier:
    """The client-aware frontier under the local budgets (I,)."""

    def solved(eps: Array, start: Array | None) -> Solution:
        if fed.is_finite:
            return solve_finite(fed, task, eps, local)
        return solve_by_dual(fed, task, eps, local, start)

    free = solved(np.array([np.inf]), None)

    def at(budgets: Array) -> Points:
        found, start = [free] * budgets.size, free.multipliers
        for k in np.argsort(-budgets, kind="stable"):  # each from the next larger budget
            found[k] = solved(budgets[k : k + 1], start)
            start = found[k].multipliers
        reached = np.array([s.disparity for s in found])
        met = np.abs(reached - budgets) <= tolerance(fed)
        worth = np.array([1.0 + s.utility for s in found])
        return Points(np.where(met, budgets, reached), worth, budgets[:, None])

    return build(free.scheme, at(np.linspace(0.0, free.disparity, points)), at, exact=True)
