"""Solutions from their multipliers, and those of a frontier's points.

The rule that accepts where u + λ·v > 0 maximises the Lagrangian. So it solves the problem whose
budgets are the disparities that it has, wherever a difference of rates has the other sign than its
multiplier: also where no double is such a budget. On a finite X cells tie, and multipliers leave
their rates open: a point's budgets and its disparity decide.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.problem import DensityProblem
from fairfl.solvers.densities.solve_by_dual import certified as certified_on_laws
from fairfl.solvers.finite_x.linear_programme import certified, ensemble, solve_box, with_nobody
from fairfl.solvers.frontier import SLACK_BUDGET, Points
from fairfl.solvers.lft_ensemble.densities import averaged, of_multipliers
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.lft_fedavg.finite_faces import Faces
from fairfl.solvers.numerics.dual import dual_point
from fairfl.solvers.numerics.highs import dense
from fairfl.solvers.problem import Problem, own_problems, problem_of
from fairfl.solvers.schemes import CFL, SOLVED
from fairfl.solvers.solution import Certificate, CertificationError, Solution, multiplier_shape
from fairfl.solvers.solve_task import solve_task
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import MET, REPRODUCED
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation


def solution_of(fed: Federation, task: Task, lam: Array, has_local: bool = False) -> Solution:
    """The rule of multipliers (K,), certified for its own disparities; ``has_local``: under a
    pooled and local budgets. A budget whose multipliers are 0 is one. CertificationError if it
    solves no problem.
    """
    if task.scheme.is_averaged:
        return _ensemble_of(fed, task, lam)
    if fed.is_finite:
        finite_problem = problem_of(fed, task, has_local)
        f, eps, certificate = _of_cells(finite_problem, lam)
        eps, local_eps = (eps[:1], eps[1:]) if has_local else (eps, None)
        rule = finite_problem.rule(f, fed.n_groups)
        return Solution(fed, task, eps, rule, lam, (certificate,), local_eps)
    slack = np.full(1 if task.scheme.is_pooled else fed.n_clients, SLACK_BUDGET)
    local_slack = np.full(fed.n_clients, SLACK_BUDGET) if has_local else None
    assert isinstance(fed.model, ContinuousModel)
    problem_at = partial(DensityProblem.of, task, fed.model)
    problem = problem_at(slack, local_slack)
    point = dual_point(problem.constraints, lam[None] / task.unit)
    lines = [sets.line(0) for sets in point.sets]
    unlimited = Solution(fed, task, slack, problem.rule(lines), lam, (), local_slack)
    budgets = _disparities(unlimited)
    return certified_on_laws(fed, task, problem_at(*budgets), *budgets, lines, point)


def _disparities(solution: Solution) -> tuple[Array, Array | None]:
    """The budgets that a rule solves its problem for: its disparities, or one if slack."""
    is_pooled = SOLVED[solution.scheme].is_pooled
    values = solution.disparity if is_pooled else solution.local_disparities
    eps = np.where(solution.prices > 0, values, SLACK_BUDGET)
    if solution.local_prices is None:
        return eps, None
    return eps, np.where(solution.local_prices > 0, solution.local_disparities, SLACK_BUDGET)


def _of_cells(problem: Problem, lam: Array) -> tuple[Array, Array, Certificate]:
    """Of the rules (N,) of multipliers (K,) the most useful, its budgets, and the certificate."""
    posed = replace(problem, v=dense(problem.v))
    face = Faces(posed, posed).face(lam, (problem.scores(lam) > 0) * 1.0)
    place = face.place(1.0, refine=True)
    if place is None:
        raise CertificationError("no rule of these multipliers solves a problem")
    binds = np.bincount(problem.owner[lam != 0], minlength=place.eps.size) > 0
    eps = np.where(binds, place.eps, SLACK_BUDGET)
    return with_nobody(problem, place.f, lam), eps, certified(problem.at(eps), place.f, lam)


def _ensemble_of(fed: Federation, task: Task, lam: Array) -> Solution:
    """The clients' own solutions of multipliers (K,), averaged by weight."""
    if task.plain and isinstance(fed.model, ContinuousModel):
        return of_multipliers(fed, task, fed.model, lam)
    shape = multiplier_shape(fed, task)
    by_client = lam.reshape(shape).swapaxes(0, 1).reshape(fed.n_clients, -1)
    if fed.is_finite:
        parts = map(_of_cells, own_problems(fed, task), by_client)
        rules, eps, certificates = zip(*parts, strict=True)
        return ensemble(fed, task, np.concatenate(eps), rules, lam, certificates)
    solutions = [
        solution_of(fed.alone(i), replace(task, scheme=CFL), lam_i)
        for i, lam_i in enumerate(by_client)
    ]
    return averaged(fed, task, np.concatenate([s.eps for s in solutions]), solutions)


def solution_at(fed: Federation, task: Task, local: Array | None, point: Points) -> Solution:
    """The certified solution of a frontier's one ``point``: no more disparate and no less useful.
    It is the solution at the point's budgets, that of its multipliers, or where cells tie one whose
    rates meet the disparity: the first to MET, or the nearest to REPRODUCED, else
    CertificationError.
    """
    best, smallest_miss = None, np.inf
    for attempt in _attempts(fed, task, local, point):
        with suppress(CertificationError):
            solution = attempt()
            excess = solution.disparity - point.disparity[0]
            missed = max(excess, point.worth[0] - 1.0 - solution.utility)
            if missed < smallest_miss:
                best, smallest_miss = solution, missed
        if smallest_miss <= MET:
            break
    if best is None or smallest_miss > REPRODUCED:
        raise CertificationError(
            f"no double budgets or multipliers of {task.scheme.name} are near enough to disparity "
            f"{point.disparity[0]:.9g}: ask for another one"
        )
    return best


def accuracies(fed: Federation, task: Task, local: Array | None, points: Points) -> Array:
    """(P,) of the solutions of a frontier's points; NaN where there is none."""
    values = np.full(points.disparity.size, np.nan)
    for k in range(values.size):
        with suppress(CertificationError):
            values[k] = solution_at(fed, task, local, points.take([k])).accuracy
    return values


def _attempts(
    fed: Federation, task: Task, local: Array | None, point: Points
) -> Iterator[partial[Solution]]:
    """What may give a point's solution."""
    eps, lam, disparity = point.eps[0], point.multipliers, float(point.disparity[0])
    yield partial(solve_task, fed, task, eps, local)
    if lam is not None and not task.monotone:
        yield partial(solution_of, fed, task, lam[0], local is not None)
    if fed.is_finite and task.scheme.is_averaged:
        yield partial(Segments.of(fed, task).mixture, eps, disparity)
    elif fed.is_finite and not task.scheme.is_pooled:
        yield partial(_at_ties, fed, task, eps, disparity)


def _at_ties(fed: Federation, task: Task, eps: Array, disparity: float) -> Solution:
    """LFT+FedAvg's best rule with at most a disparity at the multipliers of budgets (I,)."""
    faces = Faces.of(fed, task)
    f, lam = solve_box(faces.local.at(eps))
    return faces.solution(fed, task, faces.face(lam, f), disparity)
