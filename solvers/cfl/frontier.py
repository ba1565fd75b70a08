"""CFL's frontier, and that of client-aware rules: on laws of FedFB's problem all budgets in one
vectorised pass (FedFB, lemma 7), on a finite X by one sort, else by continuation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.densities import solve_many, threshold_model
from fairfl.solvers.cfl.finite import path_of, solve_cfl_finite
from fairfl.solvers.cfl.finite_path import FlipPath
from fairfl.solvers.cfl.threshold import pooled_problem, solve_thresholds
from fairfl.solvers.client_aware.finite import solve_aware_finite
from fairfl.solvers.frontier import Frontier, Points, build
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.numerics.certify import certified, solve_by_dual
from fairfl.solvers.numerics.density_problem import DensityProblem
from fairfl.solvers.numerics.dual import dual_point
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.solvers.problem import Problem, Task, law_problem, own_problems
from fairfl.solvers.solution import FINITE_TOLERANCE, LAW_TOLERANCE, Solution
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def cfl_frontier(fed: Federation, points: int, task: Task) -> Frontier:
    """CFL's frontier from disparity 0 to that of the most useful classifier."""
    model, task = fed.model, replace(task, scheme="cfl")
    if isinstance(model, FiniteModel):
        return _finite(fed, model, points, task)
    if not task.plain:
        return convex_frontier(
            lambda eps, start: solve_by_dual(fed, task, eps, start=start), points
        )
    shared = threshold_model(fed)
    if shared is not None:
        return _thresholds(fed, task, shared, points)
    return _by_multiplier(task, model, points)


def _thresholds(fed: Federation, task: Task, model: ContinuousModel, points: int) -> Frontier:
    top = solve_thresholds(pooled_problem(model, fed.within, fed.group_mass, 1), np.array([np.inf]))
    eps = np.linspace(0.0, abs(float(top.erm[0])), points)
    return _built(eps, lambda d: solve_many(fed, task, model, d))


def _built(
    eps: Array, accuracy_at: Callable[[Array], Array], accuracy: Array | None = None
) -> Frontier:
    """The frontier whose every budget is reached with equality, and is the disparity."""

    def evaluate(d: Array) -> Points:
        return Points(d, accuracy_at(d), d[:, None])

    points = evaluate(eps) if accuracy is None else Points(eps, accuracy, eps[:, None])
    return build("cfl", points, evaluate, exact=True)


def _by_multiplier(task: Task, model: ContinuousModel, points: int) -> Frontier:
    """η differs between clients: MD increases with the one multiplier, so each eps is a root of
    it.
    """
    problem = DensityProblem.of(task, model, np.ones(1)).constraints
    free = dual_point(problem, np.zeros((1, 1)))
    md = float(free.values[0, 0])
    sign = 1.0 if md >= 0 else -1.0

    def at(d: Array) -> Array:
        def rising(size: Array, index: Array) -> Array:
            return d[index] - sign * dual_point(problem, -sign * size[:, None]).values[:, 0]

        # at |λ| = 1 >= max M_a one group accepts all, the other none
        zero, top = np.zeros(d.size), np.ones(d.size)
        size = increasing_root(
            rising,
            zero,
            top,
            rising(zero, np.arange(d.size)),
            rising(top, np.arange(d.size)),
            1e-15,
        )
        # the dual value: where the laws leave gaps MD jumps at the root, and two rules are mixed to
        # meet d
        found = dual_point(problem, -sign * size[:, None])
        return found.accuracy + size * (d - sign * found.values[:, 0])

    eps = np.linspace(0.0, abs(md), points)
    accuracy = (
        np.append(at(eps[:-1]), free.accuracy) if abs(md) > 0 else np.repeat(free.accuracy, points)
    )
    return _built(eps, at, accuracy)


def path_curve(path: FlipPath, problem: Problem) -> tuple[Array, Array]:
    """All vertices of the exact frontier on a finite X: disparities decreasing to 0, accuracies."""
    accuracy = np.empty(path.gap.size)
    accuracy[0] = top = problem.base + float(problem.u[path.start].sum())
    np.subtract(top, np.cumsum(np.abs(problem.u[path.cells])), out=accuracy[1:])
    return path.gap, accuracy


def _finite(fed: Federation, model: FiniteModel, points: int, task: Task) -> Frontier:
    law = model.pooled(fed.mass)
    problem, unit = own_problems(task, law, np.array([np.inf]))[0]
    if problem.eps.size > 1:
        free = solve_cfl_finite(fed, model, task, np.array([np.inf]))

        def best(d: Array) -> Array:
            posed = [law_problem(task, law, d[k : k + 1]) for k in range(d.size)]
            found = [solve_box(one) for one in posed]
            return np.array(
                [
                    certified(one, s.f, s.multipliers, s.dual).primal
                    for one, s in zip(posed, found, strict=True)
                ]
            )

        return _built(np.linspace(0.0, free.disparity, points), best)
    gap, accuracy = path_curve(path_of(problem, unit), problem)
    rising_gap, rising_accuracy = gap[::-1], accuracy[::-1]

    def at(d: Array) -> Array:
        # between two vertices one group of tied cells is randomised: the frontier is linear there
        return np.interp(d, rising_gap, rising_accuracy)

    # flips at η = 1/2 cost nothing: all are made
    widest = max(float(gap[accuracy == accuracy[0]].min()), 0.0)
    return _built(np.linspace(0.0, widest, points), at)


def aware_frontier(fed: Federation, points: int, task: Task, local: Array) -> Frontier:
    """The client-aware frontier under the local budgets (I,)."""
    model = fed.model
    if isinstance(model, FiniteModel):
        return convex_frontier(
            lambda eps, _: solve_aware_finite(fed, model, task, eps, local),
            points,
            FINITE_TOLERANCE,
        )
    return convex_frontier(lambda eps, start: solve_by_dual(fed, task, eps, local, start), points)


def convex_frontier(
    solved: Callable[[Array, Array | None], Solution], points: int, tolerance: float = LAW_TOLERANCE
) -> Frontier:
    """The frontier of a scheme whose solutions at budgets (1,) are its frontier, by continuation:
    one problem a point, each from the multipliers of the one at the next larger budget; a
    disparity within ``tolerance`` of its budget is the budget.
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
