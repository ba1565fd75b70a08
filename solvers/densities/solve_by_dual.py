"""Certified solutions on densities under linear constraints |v·f| <= eps, by the dual.

The dual's descent gives one rule. Where that does not meet the budgets, a linear
programme on refined cells gives another.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.problem import DensityProblem
from fairfl.solvers.numerics.coin_toss_densities import settle_ties
from fairfl.solvers.numerics.descent import Line, descend, refine
from fairfl.solvers.numerics.dual import DualPoint, overlooked
from fairfl.solvers.solution import ADVICE, LAW_TOLERANCE, Certificate, CertificationError, Solution
from fairfl.solvers.task import Task
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation


def solve_by_dual(
    fed: Federation,
    task: Task,
    eps: Array,
    local_eps: Array | None = None,
    start: Array | None = None,
) -> Solution:
    """The certified solution at budgets eps, (1,) or (I,), from multipliers ``start`` (K,)."""
    model = fed.model
    assert isinstance(model, ContinuousModel)
    problem = DensityProblem.of(task, model, eps, local_eps)
    begin = None if start is None else np.where(np.isfinite(problem.eps), start, 0) / task.unit
    visited = descend(problem.constraints, problem.eps, begin)
    checked = partial(certified, fed, task, problem, eps, local_eps)
    with suppress(CertificationError):
        return checked(*settle_ties(problem.constraints, problem.eps, visited[-1]))
    lines, best = refine(problem.constraints, problem.eps, visited)
    with suppress(CertificationError):
        return checked(*settle_ties(problem.constraints, problem.eps, best))
    return checked(lines, best)


def certified(
    fed: Federation,
    task: Task,
    problem: DensityProblem,
    eps: Array,
    local_eps: Array | None,
    lines: Sequence[Line],
    point: DualPoint,
) -> Solution:
    """The solution of a rule by its ``lines`` and a dual point, with its certificate: the primal
    value from the definitions, the dual from the expansions. A place of nobody counts in neither.
    """
    lam, bound = point.lam[0], float(point.dual(problem.eps[None])[0])
    bound += float(overlooked(problem.constraints, point)[0])
    rule = problem.rule(lines)
    solution = Solution(fed, task, eps, rule, lam * task.unit, (), local_eps)
    places = zip(problem.constraints.profiles, problem.constraints.coefficients, lines, strict=True)
    errors = [
        np.append(1.0, np.abs(lam) @ np.abs(rows)) @ profile.error_at(edges)
        for profile, rows, (edges, _) in places
    ]
    error, (pooled_budget, budgets) = float(sum(errors)), (np.inf, eps)
    if task.scheme.is_pooled:
        pooled_budget, budgets = eps, np.inf if local_eps is None else local_eps
    excess = np.append(solution.local_disparities - budgets, solution.disparity - pooled_budget)
    violation = float(np.fmax(excess, 0.0).max())
    worth = 1.0 + solution.utility / task.unit
    Certificate(worth, bound, violation, error).check(LAW_TOLERANCE, ADVICE)
    certificate = Certificate(
        1.0 + solution.utility, 1.0 + task.unit * (bound - 1.0), violation, task.unit * error
    )
    solution.add(certificate)
    return solution
