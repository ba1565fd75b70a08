"""Client-aware rules f(x, a, i) on a finite X, certified, by one linear programme of all clients
(what LoGoFair, FedFACT and Duan et al., 2025, approximate).
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.numerics.cell_toss import nearest_to_toss
from fairfl.solvers.numerics.certify import certified
from fairfl.solvers.problem import Task, aware_problem
from fairfl.solvers.solution import Solution, evaluate_finite
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def solve_aware_finite(
    fed: Federation, model: FiniteModel, task: Task, eps: Array, local_eps: Array
) -> Solution:
    """The most useful f(x, a, i) with pooled disparity at most eps (1,) and every client's own at
    most ``local_eps`` (I,); of several optima the one nearest to a coin toss, as CFL's.

    Where a client has nobody, its rule is what the multipliers say of one person.
    """
    clients = model.joint(fed.mass)
    problem = aware_problem(task, clients, eps, local_eps)
    found = solve_box(problem)
    f = nearest_to_toss(problem, found.f, found.multipliers)
    certificate = certified(problem, f, found.multipliers, found.dual)
    unit = aware_problem(task, clients, eps, local_eps, unit=True)
    nobody = (problem.u == 0) & (abs(problem.v).sum(axis=0) == 0)
    f = np.where(nobody, unit.scores(found.multipliers) > 0, f)
    return evaluate_finite(
        fed, task, eps, problem.rule(f, fed.n_groups), found.multipliers, (certificate,), local_eps
    )
