"""Mixtures of two threshold rules, for budgets that no multiplier in double precision meets.

Where η is bounded away from 0 or 1, a threshold goes to ±inf at a finite λ. Near that λ a few
roundings of λ change MD by a large amount. Two rules of neighbouring multipliers both maximise
their Lagrangians, and the multipliers agree to rounding, so their mixture with MD = ±eps is
optimal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.threshold import ThresholdProblem, ThresholdSolution
from fairfl.theory.populations.eta import Eta

MISSED = 1e-11
"""Distance of MD from its budget at which a second rule is looked for: a tenth of what ``solve``
certifies.
"""
WIDEST = 60
"""Doublings of a rounding of λ in which the second rule must be found."""


@dataclass(frozen=True)
class SecondRules:
    """Second rules of B problems: thresholds (B,) twice, their probabilities ``share`` (B,), the
    mixtures' MD (B,).
    """

    t0: Array
    t1: Array
    share: Array
    mean_difference: Array

    @property
    def used(self) -> Array:
        """Positions of the problems that need their second rule."""
        return np.flatnonzero(self.share)


def bounded(eta: Eta) -> bool:
    """Whether η is known to stay away from 0 or from 1."""
    return getattr(eta, "low", 0.0) > 0.0 or getattr(eta, "high", 1.0) < 1.0


def second_rules(problem: ThresholdProblem, found: ThresholdSolution, eps: Array) -> SecondRules:
    """The second rules, where η is bounded and MD missed its budget eps (B,)."""
    t0, t1, share = found.t0.copy(), found.t1.copy(), np.zeros(eps.size)
    md = found.mean_difference.copy()
    active = found.multiplier != 0
    goal = np.where(active, found.erm_sign * np.where(active, eps, 0.0), md)
    etas = problem.etas if len(problem.etas) > 1 else list(problem.etas) * eps.size
    for k in np.flatnonzero(np.abs(md - goal) > MISSED):
        if not any(bounded(eta) for eta in etas[int(k)]):
            continue
        here = np.array([k])
        toward = -1.0 if md[k] > goal[k] else 1.0  # MD increases with λ
        step = toward * float(np.spacing(max(abs(found.multiplier[k]), 1e-300)))
        for _ in range(WIDEST):
            # from λ itself: next to these ends an offset from an anchor has no digits that λ has
            # not
            s0, s1 = problem.thresholds(np.zeros(1), found.multiplier[here] + step, here)
            other = float(problem.mean_difference(s0, s1, here)[0])
            if (other - goal[k]) * toward >= 0:
                share[k] = (goal[k] - md[k]) / (other - md[k])
                t0[k], t1[k], md[k] = s0[0], s1[0], md[k] + share[k] * (other - md[k])
                break
            step *= 2.0
    return SecondRules(t0, t1, share, md)
