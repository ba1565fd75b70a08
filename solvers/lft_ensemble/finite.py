"""LFT+Ensemble(eps) on a finite X: each client's own problem, certified, and their average by
weight.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.finite import path_of, solve_one_law
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
    for i in range(fed.n_clients):
        law = model.alone(i, fed.share[i])
        problem, f, lam = solve_one_law(task, law, eps[i : i + 1])
        certificates.append(certified(problem, f, lam))
        members.append(problem.rule(f, fed.n_groups))
        lams.append(lam.reshape(len(NOTIONS[task.notion]), -1))
    # rounding of a convex combination only
    f = np.clip(np.einsum("i,ijan->jan", fed.weight, np.stack(members)), 0.0, 1.0)
    by_rate = np.stack(lams, axis=1).ravel()
    return evaluate_finite(fed, task, eps, f, by_rate, tuple(certificates))


def local_path(fed: Federation, model: FiniteModel, task: Task, client: int) -> FlipPath:
    """Client ``client``'s own path: its law and its η decide, also at points it never saw."""
    law = model.alone(client, fed.share[client])
    free = law_problem(task, law, np.array([np.inf]))
    return path_of(task, law, free)


def everybody(fed: Federation, model: FiniteModel, task: Task) -> Problem:
    """The pooled problem without a budget: its gain and its constraint value the ensembles."""
    return law_problem(task, model.pooled(fed.mass), np.array([np.inf]))


def ensembles_at(
    fed: Federation, model: FiniteModel, task: Task, eps: Array
) -> tuple[Array, Array]:
    """Pooled MD (P,) and accuracy (P,) of the solutions at budgets (P, I); 1 + utility at other
    costs.
    """
    whole = everybody(fed, model, task)
    rules = np.zeros((len(eps), whole.u.size))
    for i, weight in enumerate(fed.weight):
        path = local_path(fed, model, task, i)
        rules += weight * np.stack([path.classifier(float(v))[0] for v in eps[:, i]])
    return rules @ whole.v[0] + whole.b[0], whole.base + rules @ whole.u
