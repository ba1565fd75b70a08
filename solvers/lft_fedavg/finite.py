"""LFT+FedAvg(eps) on a finite X, by a certified linear programme; of several optima the least
disparate.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_fedavg.finite_ties import least_disparate
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.numerics.certify import certify_finite
from fairfl.solvers.problem import Problem, Task, clients_problem, law_problem
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def fedavg_problems(fed: Federation, model: FiniteModel, task: Task) -> tuple[Problem, Problem]:
    """The problem without budgets, and the one whose constraints are the pooled ones."""
    free, pooled = np.full(fed.n_clients, np.inf), model.pooled(fed.mass)
    local = clients_problem(task, pooled, model.joint(fed.mass), free)
    return local, law_problem(task, pooled, free[:1])


def solve_fedavg_finite(fed: Federation, model: FiniteModel, task: Task, eps: Array) -> Solution:
    """Certified LFT+FedAvg(eps): the linear programme's optimum, with randomised ties; of several
    the fairest.

    Where nobody is, the rule is what the multipliers say of one person.
    """
    law, clients = model.pooled(fed.mass), model.joint(fed.mass)
    problem = clients_problem(task, law, clients, eps)
    found = solve_box(problem)
    f = least_disparate(problem, law_problem(task, law, np.ones(1)), found)
    nobody = np.flatnonzero(law.seen(law.people, task.sees) == 0)
    if nobody.size:
        unit = clients_problem(task, law, clients, eps, unit=True)
        f[nobody] = unit.scores(found.multipliers)[nobody] > 0
    return certify_finite(fed, task, eps, problem, f, found.multipliers, found.dual)
