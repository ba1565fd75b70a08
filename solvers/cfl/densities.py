"""CFL(eps) on densities where η is shared within each group, by thresholds (FedFB, lemma 7)."""

from contextlib import suppress

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.threshold import ThresholdProblem, solve_thresholds
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
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


def advice(model: ContinuousModel) -> str:
    """What keeps thresholds from being certified, where it is the rounding of x itself."""
    moved, x, step = model.rounding
    if moved <= LAW_TOLERANCE / 2:
        return ADVICE
    return (
        f"x near {x:g} is known to one rounding, {step:.2g}, in which a law passes {moved:.2g} of "
        "its mass: take a constant off x, in the laws and in eta"
    )


def pooled_problem(fed: Federation) -> ThresholdProblem | None:
    """CFL's, if thresholds solve it (laws, two groups, η shared within each), else None."""
    model = fed.model
    if isinstance(model, ContinuousModel) and fed.n_groups == 2 and model.shared_within_group:
        return ThresholdProblem(model, fed.group_mass[None], fed.within)
    return None


def solve_many(fed: Federation, task: Task, problem: ThresholdProblem, eps: Array) -> Array:
    """(E,) the accuracies of CFL(eps) for every eps (E,), each certified as in ``solve_cfl``."""
    accuracy, *missed = _judged(fed, problem, eps)[1:]
    for k in np.flatnonzero(np.abs(missed).max(axis=0) > LAW_TOLERANCE):
        accuracy[k] = solve_cfl(fed, task, problem, eps[k : k + 1]).accuracy
    return accuracy


def _judged(
    fed: Federation, problem: ThresholdProblem, eps: Array
) -> tuple[tuple[Array, Array], Array, Array, Array, Array]:
    """The solutions, accuracies P(y=0) + ∫_{t_0}^∞ u_0 + ∫_{t_1}^∞ u_1 of the rules x > t_a, their
    gaps, violations and errors of integration (E,). Rules maximise their Lagrangian: λ·MD + |λ|·eps
    is the gap.
    """
    _, lam, cuts, md = solve_thresholds(problem, eps, np.zeros(eps.size, int))
    accuracy, error = np.full(eps.size, 1.0 - fed.base_rate), np.zeros(eps.size)
    for a, t in enumerate(cuts):
        accuracy += problem.model.gain(a).above(t, 1)[0]
        error += problem.model.gain(a).errors_at(t)
    gap, violation = lam * md + budget_term(lam, eps), np.maximum(np.abs(md) - eps, 0.0)
    return (cuts, lam), accuracy, gap, violation, error


def solve_cfl(fed: Federation, task: Task, problem: ThresholdProblem, eps: Array) -> Solution:
    """Certified CFL(eps), eps of shape (1,)."""
    (cuts, lam), *figures = _judged(fed, problem, eps)
    accuracy, gap, violation, error = (float(v[0]) for v in figures)
    certificate = Certificate(accuracy, accuracy + gap, violation, error)
    if certificate.worst > LAW_TOLERANCE:  # where η has bounds the optimum may be a mixture
        with suppress(CertificationError):
            return solve_by_dual(fed, task, eps)
    certificate.check(LAW_TOLERANCE, advice(problem.model))
    rule = Classifier.thresholds(cuts[:, 0].tolist())
    return Solution(fed, task, eps, rule, lam, (certificate,))
