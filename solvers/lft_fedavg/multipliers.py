"""LFT+FedAvg on densities as a function of λ: the rule f_λ, and the budgets for which it is
optimal.

f_λ = ⟦u + Σ λ_i v_i > 0⟧ maximises the Lagrangian, so it solves LFT+FedAvg(eps) for eps_i =
|MD_i(f_λ)| wherever λ_i MD_i <= 0 for all i; where λ_i = 0, for every eps_i >= |MD_i| too. No
problem is solved to get a point: the attainable pairs of disparity and accuracy are the image of {λ
: λ_i MD_i(f_λ) <= 0}.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.critical_points import CriticalPoints, critical_points
from fairfl.solvers.numerics.density_problem import DensityProblem
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point, hessian, weights
from fairfl.solvers.problem import Task
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation

CHUNK = 400
"""Multipliers evaluated in one batch: bounds the memory."""


@dataclass(frozen=True)
class Rules:
    """Rules f_λ, b = 0..B-1: the dual points, and their pooled ``md`` (B,)."""

    point: DualPoint
    md: Array

    @property
    def lam(self) -> Array:
        """(B, K) multipliers."""
        return self.point.lam

    @property
    def accuracy(self) -> Array:
        """(B,)."""
        return self.point.accuracy

    @property
    def values(self) -> Array:
        """(B, K) MD_k."""
        return self.point.values

    @property
    def disparity(self) -> Array:
        """(B,) |MD|."""
        return np.abs(self.md)

    @property
    def cuts(self) -> Array:
        """(B, P) how many ends the accept sets have at each place."""
        return np.stack([sets.counts for sets in self.point.sets], axis=1)

    @property
    def excess(self) -> Array:
        """(B, K) |MD_k| where λ_k has the wrong sign, else 0: where all are 0, the rule solves its
        problem.
        """
        return np.where(self.lam * self.values > 0, np.abs(self.values), 0.0)

    def take(self, rows: Array) -> Rules:
        """The rules ``rows``."""
        return Rules(self.point.take(rows), self.md[rows])

    def join(self, other: Rules) -> Rules:
        """Both sets of rules."""
        return Rules(self.point.join(other.point), np.concatenate([self.md, other.md]))

    def replaced(self, rows: Array, other: Rules) -> Rules:
        """``other`` in place of the rules ``rows``."""
        order = np.arange(self.md.size)
        order[rows] = self.md.size + np.arange(len(rows))
        return self.join(other).take(order)


@dataclass(frozen=True)
class Slopes:
    """Derivatives in λ: of the accuracy and the pooled MD (B, K), of MD_k (B, K, K), and the
    critical points of s.
    """

    accuracy: Array
    md: Array
    values: Array
    critical: tuple[CriticalPoints, ...]
    heights: tuple[Array, ...]
    """(R, K) for each place: of the critical points' heights."""


@dataclass(frozen=True)
class RuleFamily:
    """All f_λ of a federation; ``pooled`` at each place the row (J_p,) of the pooled MD, and
    ``constant`` what it is at f = 0.
    """

    problem: Constraints
    pooled: tuple[Array, ...]
    constant: float

    @classmethod
    def of(cls, fed: Federation, task: Task | None = None) -> RuleFamily:
        """Of two groups and one rate; without a task, demographic parity and accuracy."""
        model, task = fed.model, Task.of(fed, "lft_fedavg") if task is None else task
        assert isinstance(model, ContinuousModel)
        own = DensityProblem.of(task, model, np.ones(len(model.mass))).constraints
        cfl = DensityProblem.of(replace(task, scheme="cfl"), model, np.ones(1)).constraints
        return cls(own, tuple(rows[0] for rows in cfl.coefficients), float(cfl.b[0]))

    def at(self, lam: Array) -> Rules:
        """The rules at lam (B, K)."""
        parts = [
            dual_point(self.problem, lam[b : b + CHUNK]) for b in range(0, max(len(lam), 1), CHUNK)
        ]
        point = functools.reduce(DualPoint.join, parts)
        rows = zip(point.sets, self.pooled, strict=True)
        md = np.sum([s.integrals[:, 1:] @ row for s, row in rows], axis=0)
        return Rules(point, self.constant + md)

    def slopes(self, rules: Rules) -> Slopes:
        """Derivatives at rules of this family. accuracy = D - λ·MD and ∇D = MD, so its slope is
        -Hλ, H = ∂MD/∂λ.
        """
        point, lam = rules.point, rules.lam
        own = hessian(self.problem, point)
        cross = hessian(self.problem, point, [row[None] for row in self.pooled])[:, 0]
        rows = self.problem.coefficients
        points = critical_points(self.problem.profiles, [weights(lam, r) for r in rows])
        heights = [p.values[:, 1:] @ r.T for p, r in zip(points, rows, strict=True)]
        climb = -np.einsum("bkl,bl->bk", own, lam)
        return Slopes(climb, cross, own, tuple(points), tuple(heights))
