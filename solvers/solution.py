"""Solution: the classifier, its exact accuracy and disparities, and the certificate that it is
optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation

LAW_TOLERANCE = 1e-10
"""What ``solve`` certifies for continuous laws: duality gap and constraint violation."""
FINITE_TOLERANCE = 1e-12
"""The same for a finite X."""
ADVICE = "use method='lp'"


def tolerance(fed: Federation) -> float:
    """What ``solve`` certifies on this federation."""
    return FINITE_TOLERANCE if fed.is_finite else LAW_TOLERANCE


class CertificationError(RuntimeError):
    """No solution could be certified to its tolerance; the message says what to do."""


@dataclass(frozen=True)
class Certificate:
    """Evidence that ``primal`` (the accuracy of a feasible classifier) is optimal for one problem.

    The local problems of an ensemble on continuous laws give both values relative to the local
    rule's own accuracy (``primal`` 0): the rule maximises its Lagrangian pointwise, so
    complementary slackness is the whole gap.

    By weak duality every feasible classifier has accuracy at most ``dual``; ``gap = dual -
    primal``. ``violation`` is the largest max(|MD_k| - eps_k, 0); ``numerical_error`` bounds the
    error of the integrals.
    """

    primal: float
    dual: float
    violation: float
    numerical_error: float = 0.0

    @property
    def gap(self) -> float:
        """dual - primal (non-negative up to rounding)."""
        return self.dual - self.primal

    def check(self, tolerance: float, advice: str) -> None:
        """Raise :class:`CertificationError` unless gap, violation and numerical error are within
        ``tolerance``.
        """
        worst = max(abs(self.gap), self.violation, self.numerical_error)
        if not worst <= tolerance:
            raise CertificationError(
                f"no solution certified to {tolerance:g}: duality gap {self.gap:.3g}, constraint "
                f"violation {self.violation:.3g}, numerical error {self.numerical_error:.3g}; "
                f"{advice}"
            )


@dataclass(frozen=True)
class Solution:
    """A certified solution of CFL(eps), LFT+Ensemble(eps) or LFT+FedAvg(eps).

    Attributes
    ----------
    scheme : "cfl", "lft_ensemble" or "lft_fedavg".
    eps : (1,) for "cfl", else (I,): the budgets.
    accuracy : P(ŷ = y) on the pooled law.
    mean_difference : MD on the pooled law (NaN with more than two groups).
    disparity : max - min of the groups' acceptance rates (of ``notion``); |MD| for two groups.
    local_mean_differences : (I,) MD_i, NaN where a client lacks a group.
    multipliers : λ; (1,) for "cfl" with two groups, (I,) else; the sign convention is FedFB's
        s(x,a) = 2η-1 ± λ/...
    classifier : f(x, a).
    certificates : one per optimisation problem (I local problems for the ensemble).
    """

    scheme: str
    eps: Array
    accuracy: float
    mean_difference: float
    disparity: float
    local_mean_differences: Array
    multipliers: Array
    classifier: Classifier
    certificates: tuple[Certificate, ...]

    @property
    def duality_gap(self) -> float:
        """The largest duality gap of the problems that were solved."""
        return max(c.gap for c in self.certificates)

    def summary(self) -> dict[str, Any]:
        """Plain numbers, for tables and JSON."""
        return {
            "scheme": self.scheme,
            "eps": self.eps.tolist(),
            "accuracy": self.accuracy,
            "mean_difference": self.mean_difference,
            "disparity": self.disparity,
            "local_mean_differences": [
                None if np.isnan(v) else float(v) for v in self.local_mean_differences
            ],
            "multipliers": self.multipliers.tolist(),
            "duality_gap": self.duality_gap,
        }


@dataclass(frozen=True)
class MinDisparity:
    """The smallest reachable disparity, budgets that reach it, and the accuracy there.

    ``lower`` and ``upper`` enclose the disparity rigorously where ``certify=True`` was asked for,
    else are None. ``multipliers`` (I,) are the local λ of the solution, None where they are not
    kept; ``reproduced`` says whether ``solve`` at ``eps`` gives this point, to 1e-7. Where it does
    not, no double eps was found that does: the wanted |MD_i| is within a rounding of another, or
    the solution at eps is not unique. The multipliers then attain it.
    """

    scheme: str
    disparity: float
    eps: Array
    accuracy: float
    lower: float | None = None
    upper: float | None = None
    multipliers: Array | None = None
    reproduced: bool = True


def budget_term(lam: Array, eps: Array) -> Array:
    """|λ|·eps, what a budget adds to the dual value; 0 where λ = 0, also where eps = inf."""
    return np.abs(lam) * np.where(lam == 0, 0.0, eps)


def evaluate(
    fed: Federation,
    scheme: str,
    eps: Array,
    classifier: Classifier,
    multipliers: Array,
    certificates: tuple[Certificate, ...],
) -> Solution:
    """Assemble a :class:`Solution`, its figures computed exactly from the classifier."""
    two = fed.n_groups == 2
    local = classifier.local_mean_differences(fed) if two else np.full(fed.n_clients, np.nan)
    return Solution(
        scheme,
        eps,
        classifier.accuracy(fed),
        classifier.mean_difference(fed) if two else float("nan"),
        classifier.disparity(fed),
        local,
        multipliers,
        classifier,
        certificates,
    )
