"""LFT+Ensemble(eps) on a finite X: the clients' own solutions, certified, averaged by weight."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import certified, optima
from fairfl.solvers.problem import Problem, own_problems
from fairfl.solvers.solution import Certificate, Solution
from fairfl.solvers.task import Task
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS


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
