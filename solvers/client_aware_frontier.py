"""The frontier of client-aware rules f(x, a, i), under a global budget and local ones, by
continuation: a convex problem a point.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities import solve_by_dual
from fairfl.solvers.finite import solve_finite
from fairfl.solvers.frontier import Frontier, Points, build
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import FINITE_TOLERANCE, LAW_TOLERANCE, Solution
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def aware_frontier(fed: Federation, points: int, task: Task, local: Array) -> Frontier:
    """The client-aware frontier under the local budgets (I,)."""
    model = fed.model
    if isinstance(model, FiniteModel):
        return _continued(
            lambda eps, _: solve_finite(fed, task, eps, local), points, FINITE_TOLERANCE
        )
    return _continued(lambda eps, start: solve_by_dual(fed, task, eps, local, start), points)


def _continued(
    solved: Callable[[Array, Array | None], Solution], points: int, tolerance: float = LAW_TOLERANCE
) -> Frontier:
    """The frontier whose points are the solutions at budgets (1,), each found from the multipliers
    of that at the next larger budget; a disparity within ``tolerance`` of its budget is the budget.
    """
    free = solved(np.array([np.inf]), None)

    def at(budgets: Array) -> Points:
        found, start = [free] * budgets.size, free.multipliers
        for k in np.argsort(-budgets, kind="stable"):
            found[k] = solved(budgets[k : k + 1], start)
            start = found[k].multipliers
        reached = np.array([s.disparity for s in found])
        met = np.abs(reached - budgets) <= tolerance
        worth = np.array([1.0 + s.utility for s in found])
        return Points(np.where(met, budgets, reached), worth, budgets[:, None])

    return build(free.scheme, at(np.linspace(0.0, free.disparity, points)), at, exact=True)
