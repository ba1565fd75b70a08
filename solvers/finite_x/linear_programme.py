"""All schemes on a finite X at given budgets: max u·f subject to |V f + b| <= eps and 0 <= f <= 1,
certified; by one sort where there is one constraint, else by HiGHS, refined.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.coin_toss import nearest_to_toss, tied
from fairfl.solvers.numerics.monotone import filled
from fairfl.solvers.problem import Problem, own_problems, problem_of
from fairfl.solvers.solution import (
    ADVICE,
    FINITE_TOLERANCE,
    Certificate,
    CertificationError,
    Solution,
)
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import MULTIPLIER_ZERO
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

SLACK = 3.0  # a larger budget limits nothing: rates, and levels, are in [0, 1]


def solve_finite(
    fed: Federation, task: Task, eps: Array, local_eps: Array | None = None
) -> Solution:
    """The certified solution for budgets eps and, beside a pooled one, ``local_eps`` (I,)."""
    problem = problem_of(fed, task, local_eps is not None)
    budgets = eps if local_eps is None else np.append(eps, local_eps)
    f, lam, certificate = optimum(problem, budgets)
    rule = problem.rule(f, fed.n_groups)
    return Solution(fed, task, eps, rule, lam, (certificate,), local_eps)


def solve_ensemble_finite(
    fed: Federation, task: Task, eps: Array, attained: tuple[Sequence[Array], Array] | None = None
) -> Solution:
    """LFT+Ensemble(eps): local solutions, each certified on its client's own law, averaged by
    weight; ``attained`` rules (I, N) are certified by the multipliers of the solution at ``eps``.
    """
    problems = own_problems(fed, task)
    rates = len(NOTIONS[task.notion].rates)
    if attained is None:
        rules, lams, certificates = optima(problems, eps)
        multipliers = lams.reshape(eps.size, rates, -1).swapaxes(0, 1).ravel()
    else:
        rules, multipliers = attained
        lams = multipliers.reshape(rates, eps.size, -1).swapaxes(0, 1).reshape(eps.size, -1)
        posed = map(Problem.at, problems, eps[:, None])
        certificates = tuple(map(certified, posed, rules, lams))
    return ensemble(fed, task, eps, rules, multipliers, certificates)


def ensemble(
    fed: Federation, task: Task, eps: Array, rules: Any, lam: Array, proofs: tuple[Certificate, ...]
) -> Solution:
    """The clients' certified rules (I, N), averaged by weight."""
    f = np.clip(fed.weight @ np.array(rules), 0.0, 1.0)  # rounding of a convex combination only
    rule = own_problems(fed, task)[0].rule(f, fed.n_groups)
    return Solution(fed, task, eps, rule, lam, proofs)


def optimum(problem: Problem, budgets: Array) -> tuple[Array, Array, Certificate]:
    """The rule f (N,) for budgets of a problem, its multipliers (K,), and its certificate.

    Of several optima it is the one nearest to a coin toss, of monotone rules in shares of
    thresholds; where nobody is, what the multipliers say of one person, 1/2 where they leave it
    open.
    """
    posed = problem.at(budgets)
    if problem.path is not None:
        f, lam = problem.path.classifier(float(posed.eps[0]))
        return f, lam, certified(posed, f, lam)
    f, lam = solve_box(posed.box)
    f, lam = posed.of_box(nearest_to_toss(posed.box, f, lam), lam)
    certificate = certified(posed, f, lam)
    return with_nobody(problem, f, lam), lam, certificate


def with_nobody(problem: Problem, f: Array, lam: Array) -> Array:
    """The rule f (N,) where nobody is: what the multipliers (K,) say of one person."""
    if problem.unit is None:
        return f
    accepted = np.where(tied(problem.unit, lam), 0.5, problem.unit.scores(lam) > 0)
    if problem.shares is not None:
        accepted = filled(f, accepted, np.asarray(problem.nobody), problem.levels, problem.shape[2])
    return np.where(problem.nobody, accepted, f)


def optima(
    problems: Sequence[Problem], budgets: Array
) -> tuple[Array, Array, tuple[Certificate, ...]]:
    """Rules (J, N), multipliers (J, K) and certificates of J problems with a budget (J,) each."""
    rules, lams, certificates = zip(*map(optimum, problems, budgets[:, None]), strict=True)
    return np.array(rules), np.array(lams), certificates


def certified(problem: Problem, f: Array, lam: Array) -> Certificate:
    """The certificate of a rule f (N,), by multipliers (K,)."""
    value, bound = problem.base + float(problem.u @ f), problem.base + problem.dual(lam)
    certificate = Certificate(value, bound, problem.violation(f))
    certificate.check(FINITE_TOLERANCE, ADVICE)
    return certificate


def solve_box(problem: Problem) -> tuple[Array, Array]:
    """Solve one linear programme: f (N,) and multipliers (K,); CertificationError if undecided."""
    lam, f = np.zeros(problem.eps.size), problem.centred((problem.u > 0).astype(np.float64))
    if problem.violation(f) == 0.0:
        return f, lam
    eps = np.minimum(problem.eps, SLACK)
    solution = problem.programme.best(-eps - problem.b, eps - problem.b)
    if solution is None:
        raise CertificationError(f"HiGHS did not solve the linear programme; {ADVICE}")
    return solution[0], np.where(
        (eps < SLACK) & (np.abs(solution[1]) > MULTIPLIER_ZERO), -solution[1], 0.0
    )
