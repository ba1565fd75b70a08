"""Certified solutions under linear constraints |v·f| <= eps: of rules on a finite X, and on
densities by the dual.

On densities the dual's descent gives one rule. Where that does not meet the budgets, column
generation mixes several.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.column_generation import mix
from fairfl.solvers.numerics.dual import Constraints, DualPoint, descend
from fairfl.solvers.problem import Problem, Task
from fairfl.solvers.solution import (
    ADVICE,
    FINITE_TOLERANCE,
    LAW_TOLERANCE,
    Certificate,
    CertificationError,
    Solution,
    evaluate,
    evaluate_finite,
)
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation


def certified(problem: Problem, f: Array, lam: Array, dual: float | None = None) -> Certificate:
    """The certificate of the rule f (N,) and the multipliers lam (K,) of a problem on a finite X;
    ``dual`` is their dual value where it is known better.
    """
    bound = problem.base + (problem.dual(lam) if dual is None else dual)
    found = Certificate(problem.base + float(problem.u @ f), bound, problem.violation(f))
    found.check(FINITE_TOLERANCE, ADVICE)
    return found


def certify_finite(
    fed: Federation,
    task: Task,
    eps: Array,
    problem: Problem,
    f: Array,
    lam: Array,
    dual: float | None = None,
) -> Solution:
    """The solution for budgets eps: rule f (N,) and multipliers lam (K,) of its problem, as in
    :func:`certified`.
    """
    certificate = certified(problem, f, lam, dual)
    return evaluate_finite(fed, task, eps, problem.rule(f, fed.n_groups), lam, (certificate,))


def solve_by_dual(
    fed: Federation, scheme: str, problem: Constraints, eps: Array, start: Array | None = None
) -> Solution:
    """The certified solution on densities for budgets eps (K,); ``start`` (K,) multipliers to begin
    with.
    """
    visited = descend(problem, eps, start)
    try:
        return _certified(
            fed,
            scheme,
            problem,
            eps,
            _rule(visited[-1]),
            visited[-1].lam[0],
            _bound(visited[-1], eps),
        )
    except CertificationError:
        theta, points, bound = mix(problem, eps, visited)
    members = [
        Classifier.from_intervals([[], []]),
        Classifier.from_intervals([[(-np.inf, np.inf)]] * 2),
    ]
    used = [
        (w, rule) for w, rule in zip(theta, [*members, *map(_rule, points)], strict=True) if w > 0
    ]
    rule = Classifier.average([r for _, r in used], [w for w, _ in used])
    best = min(points, key=lambda p: _bound(p, eps))
    return _certified(fed, scheme, problem, eps, rule, best.lam[0], bound)


def _rule(point: DualPoint) -> Classifier:
    """The classifier ⟦s > 0⟧ of the first multipliers of ``point``."""
    return Classifier.from_intervals([point.sets[a].intervals(0) for a in (0, 1)])


def _bound(point: DualPoint, eps: Array) -> float:
    return float(point.dual(eps[None])[0])


def _certified(
    fed: Federation,
    scheme: str,
    problem: Constraints,
    eps: Array,
    rule: Classifier,
    lam: Array,
    bound: float,
) -> Solution:
    """Primal from exact tail probabilities, dual from the expansions: two routes to the same
    number.
    """
    rates = np.where(fed.share > 0, rule.rates(fed), 0.0)
    values = problem.coefficients[0] @ rates[:, 0] + problem.coefficients[1] @ rates[:, 1]
    inexact = sum(p.error_at(rule.edges[a]) for a, p in enumerate(problem.profiles))
    error = inexact * (1.0 + float(np.abs(lam).sum()))
    violation = float(np.maximum(np.abs(values) - eps, 0.0).max(initial=0.0))
    certificate = Certificate(rule.accuracy(fed), bound, violation, error)
    certificate.check(LAW_TOLERANCE, ADVICE)
    return evaluate(fed, scheme, eps, rule, lam, (certificate,))
