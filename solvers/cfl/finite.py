"""CFL(eps) on a finite X, certified: a knapsack where two groups have one rate, else a linear
programme.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.finite_path import FlipPath, flip_path
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.numerics.cell_toss import nearest_to_toss
from fairfl.solvers.numerics.certify import certify_finite
from fairfl.solvers.problem import Problem, Task, own_problems
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel, Joint


def paths(task: Task, laws: Joint) -> list[FlipPath]:
    """At each place all solutions of its problem, which has one constraint."""
    free = np.full(len(laws.people), np.inf)
    return [path_of(*pair) for pair in own_problems(task, laws, free)]


def path_of(problem: Problem, unit: Problem) -> FlipPath:
    """All solutions of a problem of one constraint, ``unit`` its coefficients of one person."""
    return flip_path(unit.u, unit.v[0], problem.v[0], float(problem.b[0]))


def solve_own(
    task: Task, laws: Joint, eps: Array
) -> list[tuple[Problem, Array, Array, float | None]]:
    """At each place the problem under its budget (J,), its rule f (N,), multipliers (K,) and, of a
    linear programme, their dual value.

    Where nobody is, the rule is what the multipliers say of one person.
    """
    out = []
    for problem, unit in own_problems(task, laws, eps):
        if problem.eps.size == 1:
            f, lam = path_of(problem, unit).classifier(float(problem.eps[0]))
            out.append((problem, f, np.array([lam]), None))
            continue
        found = solve_box(problem)
        nearest = nearest_to_toss(problem, found.f, found.multipliers)
        nobody = (problem.u == 0) & (problem.v == 0).all(axis=0)
        f = np.where(nobody, unit.scores(found.multipliers) > 0, nearest)
        out.append((problem, f, found.multipliers, found.dual))
    return out


def solve_cfl_finite(fed: Federation, model: FiniteModel, task: Task, eps: Array) -> Solution:
    """Certified CFL(eps)."""
    return certify_finite(fed, task, eps, *solve_own(task, model.pooled(fed.mass), eps)[0])
