"""The frontiers of CFL and of client-aware rules f(x, a, i): at each point a convex problem.

CFL's are solved on laws of FedFB's problem in one vectorised pass (FedFB, lemma 7), on other laws
along a path, on a finite X by one sort, else a programme for each budget; those under local budgets
by continuation.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.budget_path import BudgetPath
from fairfl.solvers.cfl.densities import pooled_problem, solve_many
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.finite_x.client_path import client_path
from fairfl.solvers.finite_x.linear_programme import certified, solve_box, solve_finite
from fairfl.solvers.frontier import Frontier, Points, build, points_of
from fairfl.solvers.problem import law_problem
from fairfl.solvers.schemes import CFL
from fairfl.solvers.solution import Solution, tolerance
from fairfl.solvers.task import Task
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def frontier_with_local_budgets(fed: Federation, points: int, task: Task, local: Array) -> Frontier:
    """The frontier of a scheme with a pooled budget under local budgets (I,)."""

    def solved(eps: Array, start: Array | None) -> Solution:
        if fed.is_finite:
            return solve_finite(fed, task, eps, local)
        return solve_by_dual(fed, task, eps, local, start)

    free = solved(np.array([np.inf]), None)

    def at(budgets: Array) -> Points:
        solutions, start = [free] * budgets.size, free.multipliers
        for k in np.argsort(-budgets, kind="stable"):  # each from the next larger budget
            solutions[k] = solved(budgets[k : k + 1], start)
            start = solutions[k].multipliers
        points = points_of(fed, solutions)
        is_reached = np.abs(points.disparity - budgets) <= tolerance(fed)
        return Points(np.where(is_reached, budgets, points.disparity), *points[1:3])

    return build(task.scheme.name, at(np.linspace(0.0, free.disparity, points)), at, exact=True)


def cfl_frontier(fed: Federation, points: int, task: Task) -> Frontier:
    """CFL's frontier from disparity 0 to that of the most useful classifier."""
    model, task = fed.model, replace(task, scheme=CFL)
    if isinstance(model, FiniteModel):
        return _finite(fed, points, task)
    problem = pooled_problem(fed)
    if task.plain and problem is not None:
        eps = np.linspace(0.0, abs(float(problem.free[1][0])), points)
        return _built(eps, lambda d: solve_many(fed, task, problem, d))
    path = BudgetPath.of(fed, task)
    eps = np.linspace(0.0, path.eps[-1], points)
    return build("cfl", path.points(eps), path.points, exact=True)


def _built(eps: Array, accuracy_at: Callable[[Array], Array]) -> Frontier:
    """The frontier whose every budget is reached with equality, and is the disparity."""

    def evaluate(d: Array) -> Points:
        return Points(d, accuracy_at(d), d[:, None])

    return build("cfl", evaluate(eps), evaluate, exact=True)


def _finite(fed: Federation, points: int, task: Task) -> Frontier:
    problem = law_problem(fed, task)
    if problem.path is None:
        free = solve_finite(fed, task, np.array([np.inf]))

        def best(d: Array) -> Array:
            boxes = [problem.at(d[k : k + 1]) for k in range(d.size)]
            return np.array([certified(box, *solve_box(box)).primal for box in boxes])

        return _built(np.linspace(0.0, free.disparity, points), best)
    path = client_path(problem.path, problem)
    # between two vertices one group of tied cells is randomised: the frontier is linear there
    rising = path.local[::-1], path.accuracy[::-1]
    # flips at η = 1/2 cost nothing: all are made
    widest = float(path.local[path.accuracy == path.accuracy[0]].min())
    return _built(np.linspace(0.0, widest, points), lambda d: np.interp(d, *rising))
