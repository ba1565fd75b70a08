"""CFL, or LFT+FedAvg at one budget for all clients, on densities at many budgets at once, for every
notion, cost and sight: Newton's method from the multipliers at neighbouring budgets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules, certify_rules
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.frontier import SLACK_BUDGET, Points
from fairfl.solvers.numerics.dual import kkt_residual
from fairfl.solvers.schemes import CFL
from fairfl.solvers.solution import LAW_TOLERANCE, Solution
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import ENOUGH, KKT_TOLERANCE, SAME_BUDGET
from fairfl.theory.populations.federation import Federation

PARTS = 2, 8, 32
"""Even parts of the budgets between both ends, by turns: Newton's method starts from them."""


@dataclass
class BudgetPath:
    """The solutions of CFL, or of LFT+FedAvg, by their one budget: ``eps`` (N,), increasing, with
    multipliers ``lam`` (N, K) at costs over the largest, and ``solutions`` of some solved by
    themselves.
    """

    fed: Federation
    task: Task
    family: RuleFamily
    eps: Array
    lam: Array
    solutions: dict[float, Solution] = field(default_factory=dict)

    @classmethod
    def of(cls, fed: Federation, task: Task) -> BudgetPath:
        """Both ends, which are solved by themselves, and even budgets between them."""
        task = replace(task, scheme=CFL) if task.scheme.is_averaged else task
        none = np.zeros(0)
        path = cls(fed, task, RuleFamily.of(fed, task), none, none)
        free = solve_by_dual(fed, task, path.budgets(np.array([SLACK_BUDGET]))[0])
        largest_local = np.nan_to_num(free.local_disparities).max()
        largest = free.disparity if task.scheme.is_pooled else largest_local
        path.eps = np.array([largest or SLACK_BUDGET])
        path.lam = free.multipliers[None] / task.unit
        path.solution(0.0)
        for parts in PARTS:
            path.rules(path.eps[-1] * np.arange(1, parts) / parts)
        return path

    def budgets(self, eps: Array) -> Array:
        """(B, 1), or for LFT+FedAvg (B, I), the same budgets (B,) for all clients."""
        return np.repeat(eps[:, None], self.family.client.max(initial=0) + 1, axis=1)

    def solution(self, eps: float) -> Solution:
        """The certified one at a budget, by itself."""
        if eps not in self.solutions:
            budgets = self.budgets(np.array([eps]))[0]
            self.solutions[eps] = solve_by_dual(self.fed, self.task, budgets)
            self._keep(np.array([eps]), self.solutions[eps].multipliers[None] / self.task.unit)
        return self.solutions[eps]

    def _keep(self, eps: Array, lam: Array) -> None:
        """Multipliers (B, K) at budgets (B,) for others to start from."""
        new = np.abs(self.eps - eps[:, None]).min(axis=1) > SAME_BUDGET
        place = np.searchsorted(self.eps, eps[new])
        self.eps = np.insert(self.eps, place, eps[new])
        self.lam = np.insert(self.lam, place, lam[new], axis=0)

    def rules(self, eps: Array) -> tuple[Rules, Array]:
        """Rules at budgets (B,) by Newton's method, optimal ones are kept; residuals (B,)."""
        budgets = self.budgets(eps)
        limits = self.family.limits(budgets)
        start = np.stack([np.interp(eps, self.eps, lam) for lam in self.lam.T], axis=1)
        rules = self.family.at(np.where(np.isfinite(limits), start, 0.0))
        unsolved = np.arange(eps.size)
        while unsolved.size:
            next_rules, is_better = self.family.follow(rules.take(unsolved), budgets[unsolved])
            rules = rules.replaced(unsolved, next_rules)
            residual = kkt_residual(next_rules.lam, next_rules.values, limits[unsolved])
            unsolved = unsolved[is_better & (residual > KKT_TOLERANCE)]
        residual = kkt_residual(rules.lam, rules.values, limits)
        is_optimal = (residual <= ENOUGH) & (eps < self.eps[-1])
        self._keep(eps[is_optimal], rules.lam[is_optimal])
        return rules, residual

    def signed(self, eps: Array) -> tuple[Array, Array]:
        """Certified disparities (B,), signed for two groups and one rate, and worths at budgets."""
        rules, residual = self.rules(eps)
        md, worth, is_certified = certify_rules(self.fed, self.task, self.family, rules)
        md = md if self.task.several else np.copysign(md, rules.md)
        worth = 1.0 + self.task.unit * (worth - 1.0)
        for k in np.flatnonzero(~is_certified | (residual > ENOUGH)):
            solution = self.solution(float(eps[k]))
            md[k], worth[k] = solution.signed, 1.0 + solution.utility
        return md, worth

    def points(self, eps: Array) -> Points:
        """What the solutions at budgets (B,) attain, certified."""
        md, worth = self.signed(eps)
        met = np.abs(np.abs(md) - eps) <= LAW_TOLERANCE
        return Points(np.where(met, eps, np.abs(md)), worth, eps[:, None])
