"""LFT+Ensemble(eps) on a finite X: each client's own problem, certified, and their average by
weight.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.finite import paths, solve_own
from fairfl.solvers.cfl.finite_path import FlipPath
from fairfl.solvers.numerics.certify import certified
from fairfl.solvers.problem import Problem, Task, law_problem
from fairfl.solvers.solution import Solution, evaluate_finite
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS


def solve_ensemble_finite(fed: Federation, model: FiniteModel, task: Task, eps: Array) -> Solution:
    """LFT+Ensemble(eps): local solutions, each certified on its client's own law, averaged by
    weight.
    """
    members, lams, certificates = [], [], []
    for problem, f, lam, dual in solve_own(task, model.joint(fed.share), eps):
        certificates.append(certified(problem, f, lam, dual))
        members.append(problem.rule(f, fed.n_groups))
        lams.append(lam.reshape(len(NOTIONS[task.notion]), -1))
    # rounding of a convex combination only
    f = np.clip(np.einsum("i,ijan->jan", fed.weight, np.stack(members)), 0.0, 1.0)
    by_rate = np.stack(lams, axis=1).ravel()
    return evaluate_finite(fed, task, eps, f, by_rate, tuple(certificates))


def local_paths(fed: Federation, model: FiniteModel, task: Task) -> list[FlipPath]:
    """The clients' own paths: a client's law and its η decide, also at points it never saw."""
    return paths(task, model.joint(fed.share))


def everybody(fed: Federation, model: FiniteModel, task: Task) -> Problem:
    """The pooled problem without a budget: its gain and its constraint value the ensembles."""
    return law_problem(task, model.pooled(fed.mass), np.array([np.inf]))


def ensembles_at(
    fed: Federation, model: FiniteModel, task: Task, eps: Array
) -> tuple[Array, Array]:
    """Pooled MD or disparity (P,) and accuracy (P,) of the solutions at budgets (P, I); 1 + utility
    at other costs.
    """
    if task.several:
        found = [solve_ensemble_finite(fed, model, task, row) for row in eps]
        return np.array([s.disparity for s in found]), np.array([1.0 + s.utility for s in found])
    whole = everybody(fed, model, task)
    rules = np.zeros((len(eps), whole.u.size))
    own = zip(fed.weight, local_paths(fed, model, task), eps.T, strict=True)
    for weight, path, budgets in own:
        rules += weight * np.stack([path.classifier(float(v))[0] for v in budgets])
    return rules @ whole.v[0] + whole.b[0], whole.base + rules @ whole.u
