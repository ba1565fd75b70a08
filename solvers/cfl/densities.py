"""CFL(eps) on densities with η shared within each group, by thresholds in closed form (FedFB, lemma
7).
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.threshold import ThresholdSolution, pooled_problem, solve_thresholds
from fairfl.solvers.cfl.two_thresholds import SecondRules, second_rules
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import (
    ADVICE,
    LAW_TOLERANCE,
    Certificate,
    Solution,
    budget_term,
    evaluate,
)
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation


def advice(model: ContinuousModel, multiplier: Array, mass: Array) -> str:
    """What keeps thresholds from being certified, where it is the numbers themselves: the rounding
    of x, or η's ends.

    multiplier (B,), mass (B, 2): the problems' λ and group masses.
    """
    moved, x, step = model.rounding
    if moved > LAW_TOLERANCE / 2:
        return (
            f"x near {x:g} is known to one rounding, {step:.2g}, in which a law passes "
            f"{moved:.2g} of its mass: "
            "take a constant off x, in the laws and in eta"
        )
    if (np.abs(np.abs(multiplier)[:, None] - mass) <= 4e-16).any():
        return (
            "the fair threshold lies where eta differs from 0 or 1 by less than the smallest "
            "double: eta is too steep for laws so far apart"
        )
    return ADVICE


def threshold_model(fed: Federation) -> ContinuousModel | None:
    """The continuous model when thresholds solve CFL on it (two groups, η shared within each), else
    None.
    """
    model = fed.model
    if not isinstance(model, ContinuousModel) or fed.n_groups != 2:
        return None
    return model if model.shared_within_group else None


def solve_many(
    fed: Federation, model: ContinuousModel, eps: Array
) -> tuple[ThresholdSolution, Array, SecondRules]:
    """Thresholds for every eps (E,), the accuracies (E,), each with the certificate of
    ``solve_cfl``, second rules.

    Raises
    ------
    CertificationError : the gap, the violation or the error of the integrals of one eps is above
        1e-10.
    """
    problem = pooled_problem(model, fed.within, fed.group_mass, eps.size)
    found = solve_thresholds(problem, eps)
    accuracy = threshold_accuracy(fed, model, found.t0, found.t1)
    second = second_rules(problem, found, eps)
    for k in second.used:
        other = float(threshold_accuracy(fed, model, second.t0[[k]], second.t1[[k]])[0])
        accuracy[k] += second.share[k] * (other - accuracy[k])
    gap = _gap(found.multiplier, second.mean_difference, eps)
    violation = np.maximum(np.abs(second.mean_difference) - eps, 0.0)
    error = sum(model.gain(a).error + float(model.gain(a).inner.max()) for a in (0, 1))
    if error > LAW_TOLERANCE:  # two cuts end in two panels, not in the worst one: count those
        cuts = zip(found.t0, found.t1, strict=True)
        error = max(model.gain(0).error_at(t0) + model.gain(1).error_at(t1) for t0, t1 in cuts)
    k = int(np.maximum(np.abs(gap), violation).argmax())
    Certificate(float(accuracy[k]), float(accuracy[k] + gap[k]), float(violation[k]), error).check(
        LAW_TOLERANCE, advice(model, found.multiplier[k : k + 1], fed.group_mass[None])
    )
    return found, accuracy, second


def _gap(lam: Array, md: Array, eps: Array) -> Array:
    """λ·MD + |λ|·eps: the rule accepts where the Lagrangian is positive, so this is the whole
    duality gap.
    """
    return lam * md + budget_term(lam, eps)


def mixed_rule(found: ThresholdSolution, second: SecondRules, k: int) -> Classifier:
    """The rule of problem ``k``, mixed with its second one where it has one."""
    own = Classifier.thresholds([float(found.t0[k]), float(found.t1[k])])
    if second.share[k] == 0:
        return own
    other = Classifier.thresholds([float(second.t0[k]), float(second.t1[k])])
    return Classifier.average([own, other], [1.0 - second.share[k], second.share[k]])


def threshold_accuracy(fed: Federation, model: ContinuousModel, t0: Array, t1: Array) -> Array:
    """Pooled accuracy of the rules x > t_a: P(y=0) + ∫_{t_0}^∞ u_0 + ∫_{t_1}^∞ u_1."""
    return 1.0 - fed.base_rate + model.gain(0).above(t0, 1)[0] + model.gain(1).above(t1, 1)[0]


def solve_cfl(fed: Federation, task: Task, model: ContinuousModel, eps: Array) -> Solution:
    """Certified CFL(eps), eps of shape (1,)."""
    found, accuracy, second = solve_many(fed, model, eps)
    error = model.gain(0).error_at(found.t0) + model.gain(1).error_at(found.t1)
    violation = np.maximum(np.abs(second.mean_difference) - eps, 0.0)
    gap = _gap(found.multiplier, second.mean_difference, eps)
    certificate = Certificate(
        float(accuracy[0]), float((accuracy + gap)[0]), float(violation[0]), error
    )
    return evaluate(fed, task, eps, mixed_rule(found, second, 0), found.multiplier, (certificate,))
