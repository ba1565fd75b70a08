"""CFL on densities at many budgets at once, for every notion, cost and sight: Newton's method from
the multipliers at neighbouring budgets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities import solve_by_dual
from fairfl.solvers.frontier import SLACK_BUDGET, Points
from fairfl.solvers.numerics.descent import ENOUGH
from fairfl.solvers.numerics.dual import kkt_residual
from fairfl.solvers.numerics.newton import KKT_TOLERANCE
from fairfl.solvers.problem import Task
from fairfl.solvers.rule_family import RuleFamily, Rules, certify_rules
from fairfl.solvers.solution import LAW_TOLERANCE, Solution
from fairfl.theory.populations.federation import Federation

PARTS = 2, 8, 32
"""Even parts of the budgets between both ends, by turns: Newton's method starts from them."""
SAME = 1e-12
"""Budgets this close are one."""


@dataclass
class BudgetPath:
    """CFL's solutions by their budget.

    Attributes
    ----------
    fed, task, family : the problem.
    eps : (N,) increasing.  lam : (N, K) multipliers there, at costs over the largest.
    known : by their budgets, those that were solved by themselves.
    """

    fed: Federation
    task: Task
    family: RuleFamily
    eps: Array
    lam: Array
    known: dict[float, Solution] = field(default_factory=dict)

    @classmethod
    def of(cls, fed: Federation, task: Task) -> BudgetPath:
        """Both ends, which are solved by themselves, and even budgets between them."""
        task = replace(task, scheme="cfl")
        none = np.zeros(0)
        path = cls(fed, task, RuleFamily.of(fed, task), none, none)
        free = solve_by_dual(fed, task, np.array([SLACK_BUDGET]))
        path.eps = np.array([free.disparity or SLACK_BUDGET])
        path.lam = free.multipliers[None] / path.unit
        path.solution(0.0)
        for parts in PARTS:
            path.rules(path.eps[-1] * np.arange(1, parts) / parts)
        return path

    @cached_property
    def unit(self) -> float:
        """The largest cost."""
        return float(self.task.costs.max())

    def solution(self, eps: float) -> Solution:
        """The certified one at a budget, by itself."""
        if eps not in self.known:
            self.known[eps] = solve_by_dual(self.fed, self.task, np.array([eps]))
            self._keep(np.array([eps]), self.known[eps].multipliers[None] / self.unit)
        return self.known[eps]

    def _keep(self, eps: Array, lam: Array) -> None:
        """Multipliers (B, K) at budgets (B,) for others to start from."""
        new = np.abs(self.eps - eps[:, None]).min(axis=1) > SAME
        place = np.searchsorted(self.eps, eps[new])
        self.eps = np.insert(self.eps, place, eps[new])
        self.lam = np.insert(self.lam, place, lam[new], axis=0)

    def rules(self, eps: Array) -> tuple[Rules, Array]:
        """Rules at budgets (B,) by Newton's method, and how far (B,) they are from the optimality
        conditions; the multipliers of those that meet them are kept for others to start from.
        """
        limits = self.family.limits(eps[:, None])
        start = np.stack([np.interp(eps, self.eps, own) for own in self.lam.T], axis=1)
        rules = self.family.at(np.where(np.isfinite(limits), start, 0.0))
        left = np.arange(eps.size)
        while left.size:
            found, better = self.family.follow(rules.take(left), eps[left, None])
            rules = rules.replaced(left, found)
            off = kkt_residual(found.lam, found.values, limits[left])
            left = left[better & (off > KKT_TOLERANCE)]
        off = kkt_residual(rules.lam, rules.values, limits)
        met = (off <= ENOUGH) & (eps < self.eps[-1])
        self._keep(eps[met], rules.lam[met])
        return rules, off

    def points(self, eps: Array) -> Points:
        """What the solutions at budgets (B,) attain, certified."""
        rules, off = self.rules(eps)
        disparity, worth, sure = certify_rules(self.fed, self.task, self.family, rules)
        worth = 1.0 + self.unit * (worth - 1.0)
        for k in np.flatnonzero(~sure | (off > ENOUGH)):
            one = self.solution(float(eps[k]))
            disparity[k], worth[k] = one.disparity, 1.0 + one.utility
        met = np.abs(disparity - eps) <= LAW_TOLERANCE
        return Points(np.where(met, eps, disparity), worth, eps[:, None])
