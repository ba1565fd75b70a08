"""Certified solutions of tasks at chosen budgets, by the solver of the scheme and of the kind of X;
and the points that they add to searched frontiers.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from itertools import pairwise

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.densities import pooled_problem, solve_cfl
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.finite_x.linear_programme import solve_finite
from fairfl.solvers.frontier import SLACK_BUDGET, Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_ensemble.densities import solve_ensemble
from fairfl.solvers.lft_ensemble.finite import solve_ensemble_finite
from fairfl.solvers.solution import CertificationError, Solution, tolerance
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import REPRODUCED
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel

COMMON = 16
"""Even budgets for all clients that join a searched frontier."""


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
    return points_of(fed, with_one_budget(fed, task, (0.0, 1.0)))


def with_one_budget(fed: Federation, task: Task, budgets: Iterable[float]) -> list[Solution]:
    """The solutions of local training at one budget for all clients, where they are certified."""
    solutions = []
    for eps in budgets:
        with suppress(CertificationError):
            solutions.append(solve_task(fed, task, np.full(fed.n_clients, eps), None))
    return solutions


def joined(curve: Frontier, common: Points) -> Frontier:
    """The frontier at its disparities, with the points of common budgets where these are better."""
    if not common.disparity.size:
        return curve
    points = curve.points.join(common)
    disparity = curve.disparity.copy()
    disparity[0] = points.disparity.min()
    return build(curve.scheme, fitting(points, disparity), partial(_best_of, curve, common))


def _best_of(curve: Frontier, common: Points, disparity: Array) -> Points:
    """The best of a frontier and of other points with at most the disparities (P,)."""
    searched = curve.evaluate(np.maximum(disparity, curve.disparity[0]))
    return fitting(searched.join(common), disparity)


def at_common_budgets(fed: Federation, task: Task) -> Points:
    """Solutions at even budgets that all clients share, and where the difference of two groups'
    rates changes its sign between two of them, at a budget with the smallest disparity, by Brent's
    method. None for FedFB's question on laws: LFT+FedAvg's search starts from such budgets, and
    an ensemble's knapsack ranges over all of them.
    """
    if task.plain and not fed.is_finite:
        return points_of(fed, [])
    solutions = with_one_budget(fed, task, [SLACK_BUDGET])
    largest = max((float(np.nan_to_num(s.local_disparities).max()) for s in solutions), default=0.0)
    solutions = with_one_budget(fed, task, np.linspace(0.0, largest, COMMON)) + solutions
    if task.several:
        return points_of(fed, solutions)
    from scipy.optimize import brentq

    def signed(eps: float) -> float:
        solutions.append(solve_task(fed, task, np.full(fed.n_clients, eps), None))
        return solutions[-1].signed

    for low, high in pairwise(tuple(solutions)):
        if low.signed * high.signed < 0.0:
            with suppress(CertificationError):
                brentq(signed, low.eps[0], high.eps[0], xtol=tolerance(fed))
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
