"""Certified solutions of tasks at chosen budgets, by the solver of the scheme and of the kind of X;
and the points that they add to searched frontiers.
"""

from contextlib import suppress

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.threshold import pooled_problem, solve_cfl
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.finite_x.linear_programme import solve_ensemble_finite, solve_finite
from fairfl.solvers.frontier import SLACK_BUDGET, Points, points_of
from fairfl.solvers.lft_ensemble.densities import solve_ensemble
from fairfl.solvers.solution import CertificationError, Solution
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import REPRODUCED
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def solve_task(fed: Federation, task: Task, budget: Array, local: Array | None) -> Solution:
    """The certified solution of a task at checked budgets; ``local`` (I,) beside a pooled one."""
    model = fed.model
    if isinstance(model, FiniteModel):
        if task.scheme.is_averaged:
            return solve_ensemble_finite(fed, task, budget)
        return solve_finite(fed, task, budget, local)
    if task.scheme.is_averaged:
        return solve_ensemble(fed, task, model, budget)
    problem = pooled_problem(fed)
    if task.plain and task.scheme.is_pooled and local is None and problem is not None:
        return solve_cfl(fed, task, problem, budget)
    return solve_by_dual(fed, task, budget, local)


def corners(fed: Federation, task: Task) -> Points:
    """The solutions whose budgets are all zero, and all one, where they are certified."""
    solutions = []
    for eps in (0.0, SLACK_BUDGET):
        with suppress(CertificationError):
            solutions.append(solve_task(fed, task, np.full(fed.n_clients, eps), None))
    return points_of(fed, solutions)


def reproduced(fed: Federation, task: Task, points: Points) -> Array:
    """(P,) whether solutions at the points' budgets are the same, to REPRODUCED."""
    disparity, worth = np.full((2, len(points.eps)), np.nan)
    for p, eps in enumerate(points.eps):
        with suppress(CertificationError):
            solution = solve_task(fed, task, eps, None)
            disparity[p], worth[p] = solution.disparity, 1.0 + solution.utility
    error = np.maximum(np.abs(disparity - points.disparity), np.abs(worth - points.worth))
    return error <= REPRODUCED
