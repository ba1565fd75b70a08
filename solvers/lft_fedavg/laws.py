"""LFT+FedAvg(eps) on continuous laws: the most accurate classifier with |MD_i| <= eps_i on every client.

Also CFL(eps) where η differs between clients, so that its accept sets need not be intervals: the same problem with
the pooled MD as its one constraint.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_fedavg.column_generation import mix
from fairfl.solvers.numerics.dual import Constraints, DualPoint, cfl_constraints, descend, fedavg_constraints
from fairfl.solvers.solution import LAW_TOLERANCE, Certificate, CertificationError, Solution, evaluate
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation

ADVICE = "use method='lp'"


def solve_fedavg(fed: Federation, eps: Array, start: Array | None = None) -> Solution:
    """Certified LFT+FedAvg(eps), eps (I,); ``start`` (I,) multipliers to begin with."""
    return _solve(fed, "lft_fedavg", fedavg_constraints(fed), eps, start)


def solve_cfl_by_dual(fed: Federation, eps: Array, start: Array | None = None) -> Solution:
    """Certified CFL(eps), eps (1,), for any η."""
    return _solve(fed, "cfl", cfl_constraints(fed), eps, start)


def _solve(fed: Federation, scheme: str, problem: Constraints, eps: Array, start: Array | None) -> Solution:
    visited = descend(problem, eps, start)
    try:
        return certify(fed, scheme, problem, eps, rule_of(visited[-1]), visited[-1].lam[0], _bound(visited[-1], eps))
    except CertificationError:
        theta, points, bound = mix(problem, eps, visited)
    members = [Classifier.from_intervals([[], []]), Classifier.from_intervals([[(-np.inf, np.inf)]] * 2)]
    used = [(w, rule) for w, rule in zip(theta, [*members, *map(rule_of, points)], strict=True) if w > 0]
    rule = Classifier.average([r for _, r in used], [w for w, _ in used])
    best = min(points, key=lambda p: _bound(p, eps))
    return certify(fed, scheme, problem, eps, rule, best.lam[0], bound)


def rule_of(point: DualPoint) -> Classifier:
    """The classifier ⟦s > 0⟧ of the first multipliers of ``point``."""
    return Classifier.from_intervals([point.sets[a].intervals(0) for a in (0, 1)])


def _bound(point: DualPoint, eps: Array) -> float:
    return float(point.dual(eps[None])[0])


def certify(
    fed: Federation, scheme: str, problem: Constraints, eps: Array, rule: Classifier, lam: Array, bound: float
) -> Solution:
    """Primal from exact tail probabilities, dual from the expansions: two routes to the same number."""
    rates = np.where(fed.share > 0, rule.rates(fed), 0.0)
    values = problem.coefficients[0] @ rates[:, 0] + problem.coefficients[1] @ rates[:, 1]
    inexact = sum(p.error_at(rule.edges[a]) for a, p in enumerate(problem.profiles))
    error = inexact * (1.0 + float(np.abs(lam).sum()))
    violation = float(np.maximum(np.abs(values) - eps, 0.0).max(initial=0.0))
    certificate = Certificate(rule.accuracy(fed), bound, violation, error)
    certificate.check(LAW_TOLERANCE, ADVICE)
    return evaluate(fed, scheme, eps, rule, lam, (certificate,))
