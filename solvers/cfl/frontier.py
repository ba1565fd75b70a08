"""The frontiers of CFL and of client-aware rules f(x, a, i): at each point a convex problem.

CFL's are solved on laws of FedFB's problem in one vectorised pass (FedFB, lemma 7), on other laws
along a path, on a finite X by one sort, else a programme for each budget; those under local budgets
by continuation.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.budget_path import BudgetPath
from fairfl.solvers.cfl.threshold import pooled_problem, solve_many
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.finite_x.client_path import client_path
from fairfl.solvers.finite_x.linear_programme import certified, solve_box, solve_finite
from fairfl.solvers.frontier import Frontier, Points, build, points_of
from fairfl.solvers.problem import Problem, law_problem
from fairfl.solvers.schemes import CFL
from fairfl.solvers.solution import Solution, tolerance
from fairfl.solvers.task import Task
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def frontier_with_local_budgets(fed: Federation, points: int, task: Task, local: Array) -> Frontier:
    """The frontier of a scheme with a pooled budget under local budgets (I,)."""
    path = LocalBudgetsPath(fed, task, local)
    budgets = np.linspace(0.0, path.free.disparity, points)
    return build(task.scheme.name, path.points(budgets), path.points, exact=True)


@dataclass(frozen=True)
class LocalBudgetsPath:
    """The solutions under ``local`` budgets (I,), by their pooled budget."""

    fed: Federation
    task: Task
    local: Array

    @cached_property
    def free(self) -> Solution:
        """Without a pooled budget."""
        return self.solution(np.array([np.inf]))

    def solution(self, eps: Array, start: Array | None = None) -> Solution:
        """At a pooled budget (1,); on laws from multipliers."""
        if self.fed.is_finite:
            return solve_finite(self.fed, self.task, eps, self.local)
        return solve_by_dual(self.fed, self.task, eps, self.local, start)

    def points(self, budgets: Array) -> Points:
        """What the solutions at pooled budgets (P,) attain, by continuation."""
        solutions, start = [self.free] * budgets.size, self.free.multipliers
        for k in np.argsort(-budgets, kind="stable"):  # each from the next larger budget
            solutions[k] = self.solution(budgets[k : k + 1], start)
            start = solutions[k].multipliers
        points = points_of(self.fed, solutions)
        is_reached = np.abs(points.disparity - budgets) <= tolerance(self.fed)
        return Points(np.where(is_reached, budgets, points.disparity), *points[1:3])


def cfl_frontier(fed: Federation, points: int, task: Task) -> Frontier:
    """CFL's frontier from disparity 0 to that of the most useful classifier."""
    model, task = fed.model, replace(task, scheme=CFL)
    if isinstance(model, FiniteModel):
        return _finite(fed, points, task)
    problem = pooled_problem(fed)
    if task.plain and problem is not None:
        eps = np.linspace(0.0, abs(float(problem.free[1][0])), points)
        return _built(eps, partial(solve_many, fed, task, problem))
    path = BudgetPath.of(fed, task)
    eps = np.linspace(0.0, path.eps[-1], points)
    return build("cfl", path.points(eps), path.points, exact=True)


def _built(eps: Array, accuracy_at: Callable[[Array], Array]) -> Frontier:
    """The frontier whose every budget is reached with equality, and is the disparity."""

    def evaluate(eps: Array) -> Points:
        return Points(eps, accuracy_at(eps), eps[:, None])

    return build("cfl", evaluate(eps), evaluate, exact=True)


def _finite(fed: Federation, points: int, task: Task) -> Frontier:
    problem = law_problem(fed, task)
    if problem.path is None:
        free = solve_finite(fed, task, np.array([np.inf]))
        return _built(np.linspace(0.0, free.disparity, points), partial(_programmes, problem))
    path = client_path(problem.path, problem)
    # between two vertices one group of tied cells is randomised: the frontier is linear there
    rising = path.local[::-1], path.accuracy[::-1]
    # flips at η = 1/2 cost nothing: all are made
    widest = float(path.local[path.accuracy == path.accuracy[0]].min())
    return _built(np.linspace(0.0, widest, points), lambda d: np.interp(d, *rising))


def _programmes(problem: Problem, eps: Array) -> Array:
    """(P,) the accuracies at budgets (P,), by a linear programme each."""
    boxes = [problem.box.at(eps[k : k + 1]) for k in range(eps.size)]
    return np.array([certified(box, *solve_box(box)).primal for box in boxes])
