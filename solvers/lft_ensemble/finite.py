"""LFT+Ensemble(eps) on a finite X: each client's own problem, certified, and their average by
weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite import optimum
from fairfl.solvers.problem import Task, own_problems
from fairfl.solvers.solution import Certificate, Solution
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS


def solve_ensemble_finite(fed: Federation, task: Task, eps: Array) -> Solution:
    """LFT+Ensemble(eps): local solutions, each certified on its client's own law, averaged by
    weight.
    """
    own = [optimum(one, eps[i : i + 1]) for i, one in enumerate(own_problems(fed, task))]
    rules, lams, certificates = zip(*own, strict=True)
    by_rate = np.stack([lam.reshape(len(NOTIONS[task.notion]), -1) for lam in lams], axis=1)
    return averaged(fed, task, eps, rules, by_rate.ravel(), certificates)


def averaged(
    fed: Federation,
    task: Task,
    eps: Array,
    rules: Sequence[Array],
    multipliers: Array,
    certificates: tuple[Certificate, ...],
) -> Solution:
    """The ensemble of the clients' rules (N,)."""
    f = np.clip(fed.weight @ np.stack(rules), 0.0, 1.0)  # rounding of a convex combination only
    rule = own_problems(fed, task)[0].rule(f, fed.n_groups)
    return Solution(fed, task, eps, rule, multipliers, certificates)
