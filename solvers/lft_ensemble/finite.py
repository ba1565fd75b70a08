"""LFT+Ensemble(eps) on a finite X: each client's own problem, certified, and their average by
weight.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.box_lp import optimum
from fairfl.solvers.problem import Task, own_problems
from fairfl.solvers.solution import Solution, evaluate_finite
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS


def solve_ensemble_finite(fed: Federation, task: Task, eps: Array) -> Solution:
    """LFT+Ensemble(eps): local solutions, each certified on its client's own law, averaged by
    weight.
    """
    problems = own_problems(fed, task)
    rules, lams, certificates = zip(
        *(optimum(own, eps[i : i + 1]) for i, own in enumerate(problems)), strict=True
    )
    f = np.clip(fed.weight @ np.stack(rules), 0.0, 1.0)  # rounding of a convex combination only
    by_rate = np.stack([lam.reshape(len(NOTIONS[task.notion]), -1) for lam in lams], axis=1)
    rule = problems[0].rule(f, fed.n_groups)
    return evaluate_finite(fed, task, eps, rule, by_rate.ravel(), certificates)
