"""LFT+FedAvg's solutions on densities as functions of their multipliers or budgets (FedFB, lemma
18).

f_λ = ⟦s > 0⟧, s = u + λ·v, maximises the Lagrangian pointwise. So it solves LFT+FedAvg(eps) for
every eps that its values are complementary to: |value_k| is eps_i where λ_k is not zero, with the
other sign, and at most eps_i elsewhere. Where ties have a mass only budgets tell their rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.problem import DensityProblem
from fairfl.solvers.frontier import SLACK_BUDGET
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point, overlooked, worth
from fairfl.solvers.numerics.newton import settled
from fairfl.solvers.schemes import CFL
from fairfl.solvers.solution import LAW_TOLERANCE
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import BUDGET_TIED, TIGHT
from fairfl.theory.numerics.piecewise_chebyshev import Piecewise
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS


@dataclass(frozen=True)
class Rules(DualPoint):
    """Optimal rules, b = 0..B-1, with their pooled differences (B, M) of rates. Accuracies are 1 +
    utility at costs over the largest, ``values`` (B, K) the constraints' differences.
    """

    arrays: ClassVar = (*DualPoint.arrays, "pooled")
    pooled: Array
    client: Array

    @property
    def md(self) -> Array:
        """(B,) the first pooled difference: MD, of two groups and one rate."""
        return self.pooled[:, 0]

    @property
    def disparity(self) -> Array:
        """(B,)."""
        return np.abs(self.pooled).max(axis=1, initial=0.0)

    @property
    def cuts(self) -> Array:
        """(B, P) how many ends the accept sets have at each place."""
        return np.stack([sets.counts for sets in self.sets], axis=1)

    @property
    def local(self) -> Array:
        """(B, I) the largest |value_k| of each client."""
        return largest(np.abs(self.values), self.client)

    @property
    def excess(self) -> Array:
        """(B, K) what |value_k| misses of its client's largest where λ_k is not zero, or has of the
        wrong sign: where all are 0, the rule solves its problem.
        """
        missed = self.local[:, self.client] + np.sign(self.lam) * self.values
        return np.where(self.lam != 0, missed, 0.0)

    @property
    def sound(self) -> Array:
        """(B,) bool, whether the rule solves its problem."""
        return self.excess.max(axis=1, initial=0.0) <= BUDGET_TIED

    @property
    def budgets(self) -> Array:
        """(B, I) budgets that the rules solve, and none where no λ_k binds."""
        bound = largest((self.lam != 0) * 1.0, self.client) > 0
        eps = np.where(bound, self.local, SLACK_BUDGET)
        return np.where(eps <= TIGHT, 0.0, eps)


def largest(values: Array, client: Array) -> Array:
    """(B, I) of non-negative values (B, K) the largest of each client."""
    out = np.zeros((int(client.max(initial=-1)) + 1, len(values)))
    np.maximum.at(out, client, values.T)
    return out.T


@dataclass(frozen=True)
class RuleFamily:
    """All optimal rules of a task.

    Attributes
    ----------
    problem : the clients' constraints.  client : (K,) whose each is.  bound : (K,) bool, whether it
        binds anybody.  implied : (K,) bool, whether it follows from the others at a budget of 0.
    pooled : at each place the rows (M, J_p) of the pooled differences.  constant : (M,) what they
        are at f = 0.
    """

    problem: Constraints
    client: Array
    bound: Array
    implied: Array
    pooled: tuple[Array, ...]
    constant: Array

    @classmethod
    def of(cls, fed: Federation, task: Task | None = None) -> RuleFamily:
        """Without a task, of demographic parity and accuracy."""
        model, task = fed.model, Task.of(fed, "lft_fedavg") if task is None else task
        assert isinstance(model, ContinuousModel)
        clients, rates = len(model.mass), len(NOTIONS[task.notion].rates)
        clients = 1 if task.scheme.is_pooled else clients  # budgets
        problem, tight = (DensityProblem.of(task, model, v * np.ones(clients)) for v in (1.0, 0.0))
        cfl = DensityProblem.of(replace(task, scheme=CFL), model, np.ones(1))
        bounded, bound = np.isfinite(cfl.eps), np.isfinite(problem.eps)
        return cls(
            problem.constraints,
            np.tile(np.repeat(np.arange(clients), bound.size // rates // clients), rates),
            bound,
            bound & np.isinf(tight.eps),
            tuple(rows[bounded] for rows in cfl.constraints.coefficients),
            cfl.constraints.b[bounded],
        )

    def _rules(self, point: DualPoint) -> Rules:
        rows = zip(point.sets, self.pooled, strict=True)
        md = np.sum([s.integrals[:, 1:] @ row.T for s, row in rows], axis=0)
        parts = point.lam, point.sets, point.accuracy, point.values
        return Rules(*parts, self.constant + md, self.client)

    def at(self, lam: Array) -> Rules:
        """The rules at lam (B, K)."""
        return self._rules(dual_point(self.problem, lam))

    @property
    def everybody(self) -> tuple[Array, list[Piecewise]]:
        """1 + utility and pooled differences (1 + M,) of f = 0, and what f adds by place."""
        places = zip(self.problem.profiles, self.pooled, self.problem.nobody, strict=True)
        functions = []
        for profile, rows, nobody in places:
            both = np.pad(rows, ((1, 0), (1, 0)))
            both[0, 0] = not nobody
            functions.append(replace(profile, coefficients=profile.combined(both)))
        return np.append(self.problem.base, self.constant), functions

    def follow(self, rules: Rules, eps: Array) -> tuple[Rules, Array]:
        """The rules (B,) at budgets eps (B, I) by Newton's method, and which of them it found."""
        limits = self.limits(eps)
        lam = np.where(np.isfinite(limits), rules.lam, 0.0)
        point = DualPoint(lam, rules.sets, rules.accuracy, rules.values)
        moved, is_better = settled(self.problem, point, limits)
        return self._rules(moved), is_better

    def limits(self, eps: Array) -> Array:
        """(..., K) the constraints' budgets at budgets eps (..., I)."""
        budgets = np.where(self.bound, eps[..., self.client], np.inf)
        return np.where(self.implied & (budgets == 0), np.inf, budgets)


def certify_rules(
    fed: Federation,
    task: Task,
    family: RuleFamily,
    rules: Rules,
    order: Array | slice = slice(None),
) -> tuple[Array, Array, Array]:
    """(B,) the disparities of LFT+FedAvg's rules and their worths at costs over the largest, by
    definition, and whether they are certified for their budgets; clients of the family in an
    ``order`` (I,).
    """
    model, error = fed.model, np.zeros(len(rules.lam))
    assert isinstance(model, ContinuousModel)
    exact, count = [], len(rules.sets)
    for p, sets in enumerate(rules.sets):
        edges, values = sets.steps
        groups = range(p, fed.n_groups, count)  # a place is a group, or all of them
        gain = sum(model.utility(task.costs / task.unit, a, edges, values) for a in groups)
        pairs = product(NOTIONS[task.notion].rates, groups)
        served = [model.integrals(rate, a, edges, values)[order] for rate, a in pairs]
        exact.append(np.concatenate([np.broadcast_to(gain, (1, len(rules.lam))), *served]).T)
        errors = family.problem.profiles[p].error_at(edges)
        weight = np.abs(rules.lam) @ np.abs(family.problem.coefficients[p])
        error += errors[0] + weight @ errors[1:]
    attained = 1.0 + np.sum([served[:, 0] for served in exact], axis=0)
    values = worth(family.problem, exact, rules.lam)[1]
    parts = zip(exact, family.pooled, strict=True)
    pooled = family.constant + sum(served[:, 1:] @ rows.T for served, rows in parts)
    limits = family.limits(rules.budgets)
    gap = rules.dual(limits) + overlooked(family.problem, rules) - attained
    violation = (np.abs(values) - limits).max(axis=1, initial=0.0)
    worst = np.maximum(np.maximum(np.abs(gap), violation), error)
    return np.abs(pooled).max(axis=1, initial=0.0), attained, worst <= LAW_TOLERANCE
