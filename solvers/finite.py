"""CFL, LFT+FedAvg and client-aware rules on a finite X: one certified problem for all clients."""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.box_lp import optimum
from fairfl.solvers.problem import Problem, Task, aware_problem, clients_problem, law_problem
from fairfl.solvers.solution import Solution, evaluate_finite
from fairfl.theory.populations.federation import Federation

PROBLEMS = {"cfl": law_problem, "lft_fedavg": clients_problem, "client_aware": aware_problem}


def solve_finite(
    fed: Federation, task: Task, eps: Array, local_eps: Array | None = None
) -> Solution:
    """The certified solution for budgets eps, and of client-aware rules also ``local_eps`` (I,)."""
    problem: Problem = PROBLEMS[task.scheme](fed, task)
    budgets = eps if local_eps is None else np.append(eps, local_eps)
    f, lam, certificate = optimum(problem, budgets)
    rule = problem.rule(f, fed.n_groups)
    return evaluate_finite(fed, task, eps, rule, lam, (certificate,), local_eps)
