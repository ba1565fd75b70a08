"""CFL(eps) on a finite X, certified: a knapsack where two groups have one rate, else a linear
programme.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.finite_path import FlipPath, flip_path
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.numerics.certify import certify_finite
from fairfl.solvers.problem import Problem, Task, law_problem
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel, Joint


def path_of(task: Task, law: Joint, problem: Problem) -> FlipPath:
    """All solutions of a problem with one constraint."""
    unit = law_problem(task, law, problem.eps, unit=True)
    return flip_path(unit.u, unit.v[0], problem.v[0], float(problem.b[0]))


def solve_one_law(task: Task, law: Joint, eps: Array) -> tuple[Problem, Array, Array]:
    """The problem of one law under a budget (1,), its rule f (N,) and its multipliers (K,).

    Where nobody is, the rule is what the multipliers say of one person.
    """
    problem = law_problem(task, law, eps)
    if problem.eps.size == 1:
        f, lam = path_of(task, law, problem).classifier(float(problem.eps[0]))
        return problem, f, np.array([lam])
    found = solve_box(problem)
    unit = law_problem(task, law, eps, unit=True)
    nobody = (problem.u == 0) & (problem.v == 0).all(axis=0)
    return problem, np.where(nobody, unit.scores(found.multipliers) > 0, found.f), found.multipliers


def solve_cfl_finite(fed: Federation, model: FiniteModel, task: Task, eps: Array) -> Solution:
    """Certified CFL(eps)."""
    return certify_finite(fed, task, eps, *solve_one_law(task, model.pooled(fed.mass), eps))
