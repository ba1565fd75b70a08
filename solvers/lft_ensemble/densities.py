"""LFT+Ensemble(eps) on densities: each client's own optimum (FedFB, lemma 7), averaged by weight
(eq. 32).

Pooled MD and accuracy are linear in f, so for any q_i and weights they are sums over clients,
MD = Σ_j π_j G_j(λ_j) and Acc = Σ_j π_j A_j(λ_j), each term a function of one local multiplier
(FedFB eq. (32), without its hypotheses). Over eps_j in [0, 1], λ_j ranges over the interval Λ_j
between 0 and its value at eps_j = 0.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.threshold import ThresholdProblem, advice, solve_thresholds
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.schemes import CFL
from fairfl.solvers.solution import (
    ADVICE,
    LAW_TOLERANCE,
    Certificate,
    CertificationError,
    Solution,
    budget_term,
)
from fairfl.solvers.task import Task
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS


def solve_ensemble(fed: Federation, task: Task, model: ContinuousModel, eps: Array) -> Solution:
    """Certified LFT+Ensemble(eps): each local problem carries its own certificate."""
    if not task.plain:
        return averaged(
            fed, task, eps, [_of_client(fed, task, eps, i) for i in range(fed.n_clients)]
        )
    budgets = np.where(fed.defined, eps, np.inf)  # one group alone limits nothing
    problem = ThresholdProblem(model, fed.share)
    _, lam, t, md = solve_thresholds(problem, budgets, np.arange(fed.n_clients))
    return by_thresholds(fed, task, eps, lam, t, md)


def averaged(fed: Federation, task: Task, eps: Array, solutions: Sequence[Solution]) -> Solution:
    """The clients' certified solutions, averaged by weight."""
    rule = Classifier.average([s.classifier for s in solutions], fed.weight)
    shape = len(NOTIONS[task.notion].rates), -1
    lam = np.stack([s.multipliers.reshape(shape) for s in solutions], axis=1).ravel()
    return Solution(fed, task, eps, rule, lam, tuple(s.certificates[0] for s in solutions))


def of_multipliers(fed: Federation, task: Task, model: ContinuousModel, lam: Array) -> Solution:
    """By thresholds the ensemble of multipliers (I,), for the clients' own disparities."""
    problem, rows = ThresholdProblem(model, fed.share), np.arange(fed.n_clients)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = problem.thresholds(np.where(lam == 0.0, 0.0, np.arctanh(lam / problem.ends[0])), rows)
    md = problem.mean_difference(t, rows)
    return by_thresholds(fed, task, np.where(lam != 0.0, np.abs(md), 1.0), lam, t, md)


def by_thresholds(
    fed: Federation, task: Task, eps: Array, lam: Array, t: Array, md: Array
) -> Solution:
    """The clients' rules x > t_a, t (2, I), with MD (I,), certified for budgets eps (I,)."""
    model = fed.model
    assert isinstance(model, ContinuousModel)
    members = [Classifier.thresholds(cuts) for cuts in t.T.tolist()]
    certificates: list[Certificate] = []
    for i in map(int, np.flatnonzero(fed.defined)):
        # λ_i·MD_i + |λ_i|·eps_i is the whole gap: local rules maximise their Lagrangian pointwise
        gap = float(lam[i] * md[i] + budget_term(lam[i], eps[i]))
        certificate = Certificate(0.0, gap, max(abs(float(md[i])) - float(eps[i]), 0.0))
        if certificate.worst > LAW_TOLERANCE:  # where η has bounds the optimum may be a mixture
            with suppress(CertificationError):
                mixture = _of_client(fed, task, eps, i)
                members[i], (certificate,) = mixture.classifier, mixture.certificates
        certificate.check(LAW_TOLERANCE, advice(model))
        certificates.append(certificate)
    # votes are averaged by weight, so the worst cut's error bounds the average
    error = float((model.gain(0).errors_at(t[0]) + model.gain(1).errors_at(t[1])).max())
    Certificate(0.0, 0.0, 0.0, error).check(LAW_TOLERANCE, ADVICE)
    rule = Classifier.average(members, fed.weight)
    certified = tuple(certificates) or (Certificate(0.0, 0.0, 0.0),)
    return Solution(fed, task, eps, rule, lam, certified)


def _of_client(fed: Federation, task: Task, eps: Array, i: int) -> Solution:
    return solve_by_dual(fed.alone(i), replace(task, scheme=CFL), eps[i : i + 1])
