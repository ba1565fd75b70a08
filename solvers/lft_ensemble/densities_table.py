"""A client's solutions on densities along its budget, and what they add to everybody's utility and
rates: followed by Newton's method, all segments at once, and joined by cubics. Segments whose
middle is off the cubic are halved, those at a kink until they are narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.cfl.budget_path import PARTS, BudgetPath
from fairfl.solvers.densities.rules import certify_rules
from fairfl.solvers.numerics.accept_sets import AcceptSets
from fairfl.solvers.numerics.coin_toss_densities import integrals
from fairfl.solvers.numerics.dual import DualPoint, derivatives, dual_point, kkt_residual
from fairfl.solvers.numerics.newton import RIDGE, stationary
from fairfl.solvers.solution import CertificationError
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import CERTIFIED_OFF, ENOUGH, SAME_BUDGET
from fairfl.theory.numerics.piecewise_chebyshev import Piecewise
from fairfl.theory.populations.federation import Federation

NARROW, COARSE = 20, 10
"""How often all budgets are halved until a segment that is not what is between its ends is left as
it is, and one where Newton's method fails at both.
"""
FINE, ROUGH, MOST = 1e-10, 1e-6, 1000
"""How far a cubic, and a line, may be from the truth, unless a table has many nodes."""
ALONE, FEWEST = 40, 8
"""Where whole groups tie Newton's method fails, and a budget is solved by itself in a tenth of a
second: so many for the tables of all clients, and for each at least. Lines are left in their place.
"""
JUMP = 1e-2
"""A rate of the client's that changes by more than this on a segment that is no line jumps."""


@dataclass
class Table:
    """A client's solutions by its budget, and what they add to everybody's.

    Attributes
    ----------
    path : its own solutions.  weight : the client's.
    base, functions : everybody's worth and rates (1 + M,) of f = 0, and their densities at each
        place.
    eps : (N,) increasing.  value, slope : (N, 1 + M) the worth and the rates, and their
        derivatives; NaN where these are unknown.
    error : (N - 1,) how far a segment is from what joins its ends.
    alone : how many budgets may still be solved by themselves while the table is made.
    """

    path: BudgetPath
    weight: float
    base: Array
    functions: Sequence[Piecewise]
    eps: Array
    value: Array
    slope: Array
    error: Array
    alone: int = PARTS[-1]

    @classmethod
    def of(
        cls,
        fed: Federation,
        task: Task,
        weight: float,
        everybody: tuple[Array, Sequence[Piecewise]],
        clients: int,
    ) -> Table:
        """Nodes up to the free rule's own disparity, of one of so many ``clients``."""
        path = BudgetPath.of(fed, task)
        nothing = np.zeros(0)
        table = cls(path, weight, *everybody, nothing, nothing, nothing, nothing)
        eps = np.linspace(0.0, path.eps[-1], PARTS[-1] // 2 + 1)
        _, value, slope, sure = table.solved(eps)
        table.eps, table.value, table.slope = eps[sure], value[sure], slope[sure]
        table.error = np.full(table.eps.size - 1, np.inf)
        table.alone = max(ALONE // clients, FEWEST)
        for _ in range(NARROW):
            ends, size = table.smooth_ends, np.diff(table.eps)
            width = table.eps[-1] / 2.0 ** np.where(ends == 0, COARSE, NARROW)
            is_coarse = (table.error > np.where(ends == 0, ROUGH, FINE)) & (size > width)
            is_coarse &= (ends == 2) | (table.alone > 0)
            if not is_coarse.any() or table.eps.size > MOST:
                break
            table.add((table.eps[:-1] + size / 2.0)[is_coarse])
        return table

    @property
    def smooth_ends(self) -> Array:
        """(N - 1,) how many ends of the segments have slopes: cubics join two."""
        has_slopes = np.isfinite(self.slope).all(axis=1).astype(int)
        return has_slopes[1:] + has_slopes[:-1]

    def solved(self, eps: Array, certify: bool = False) -> tuple[Array, Array, Array, Array]:
        """Multipliers (B, K), values and slopes (B, 1 + M) at budgets (B,), and whether the
        solutions are found, or even certified; slopes are NaN where the rule is not that of its
        multipliers.
        """
        rules, residual = self.path.rules(eps)
        is_solved = residual <= ENOUGH
        if certify:
            path = self.path
            is_solved &= certify_rules(path.fed, path.task, path.family, rules)[2]
            is_solved &= residual <= CERTIFIED_OFF * self.eps[-1]
        limits = self.path.family.limits(eps[:, None])
        lam, slope = rules.lam.copy(), self._slope(rules, limits)
        parts = [over(*place) for place in zip(rules.sets, self.functions, strict=True)]
        value = self.weight * (self.base + np.sum(parts, axis=0))
        slope[~is_solved] = np.nan
        for k in np.flatnonzero(~is_solved):
            if not certify and float(eps[k]) not in self.path.solutions:
                if not self.alone:
                    continue
                self.alone -= 1
            try:
                solution = self.path.solution(float(eps[k]))
            except CertificationError:
                continue
            lam[k], is_solved[k] = solution.multipliers / self.path.task.unit, True
            value[k] = self.base
            rule = solution.classifier
            for functions, *line in zip(self.functions, rule.edges, rule.values, strict=False):
                value[k] += integrals(functions, line)
            value[k] *= self.weight
            point = dual_point(self.path.family.problem, lam[k : k + 1])
            if kkt_residual(point.lam, point.values, limits[k : k + 1])[0] <= ENOUGH:
                slope[k] = self._slope(point, limits[k : k + 1])[0]
        return lam, value, slope, is_solved

    def add(self, eps: Array) -> None:
        """Make budgets (B,) nodes, unless they are or are not certified."""
        eps = np.sort(eps)
        eps = eps[np.append(True, np.diff(eps) > SAME_BUDGET)]
        distance = np.abs(self.eps - eps[:, None]).min(axis=1)
        eps = eps[(distance > SAME_BUDGET) & (eps < self.eps[-1])]
        _, value, slope, is_solved = self.solved(eps)
        eps, value, slope = eps[is_solved], value[is_solved], slope[is_solved]
        k = np.searchsorted(self.eps, eps)
        order = np.where(self.smooth_ends[k - 1] == 2, 16.0, 4.0)
        error = np.abs(self.curve(eps) - value).max(axis=1, initial=0.0) / order
        halves = self.error.copy()  # a copy of the table may share the array
        halves[k - 1] = error
        self.error = np.insert(halves, k, error)
        self.eps = np.insert(self.eps, k, eps)
        self.value = np.insert(self.value, k, value, axis=0)
        self.slope = np.insert(self.slope, k, slope, axis=0)
        self.__dict__.pop("curve", None)

    def _slope(self, point: DualPoint, limits: Array) -> Array:
        """(B, 1 + M) derivatives in the budget: dλ keeps what binds at its limit."""
        free = ~point.lam.any(axis=1, keepdims=True) & (np.abs(point.values) >= limits - ENOUGH)
        signs = np.where(free, -np.sign(point.values), np.sign(point.lam))
        h, flows = derivatives(self.path.family.problem, point, self.functions)
        ridge = RIDGE * np.trace(h, axis1=1, axis2=2) + 1e-300
        h = h + ridge[:, None, None] * np.eye(h.shape[1])
        zero = np.zeros(signs.shape)
        moved = stationary(h, zero, zero, signs, np.ones(signs.shape))
        return self.weight * (flows @ moved[:, :, None])[:, :, 0]

    @cached_property
    def curve(self) -> scipy.interpolate.PPoly:
        """Cubics between nodes; lines where a slope is unknown, or leads to what no rate can be."""
        slope, width = np.nan_to_num(self.slope), np.diff(self.eps)[:, None]
        joined = scipy.interpolate.CubicHermiteSpline(self.eps, self.value, slope)
        rise = np.diff(self.value, axis=0)
        error = np.maximum(abs(width * slope[:-1] - rise), abs(width * slope[1:] - rise))
        line = (self.smooth_ends < 2) | (error > self.weight).any(axis=1)
        joined.c[:2, line], joined.c[2, line] = 0.0, (rise / width)[line]
        return joined

    @property
    def jumps(self) -> Array:
        """(N - 1,) on which segments a rate jumps: solutions tie for the client, not for others."""
        moved = np.abs(np.diff(self.value[:, 1:], axis=0)).max(axis=1, initial=0.0)
        return (self.error > ROUGH) & (moved > JUMP * self.weight)

    def lines(self) -> tuple[Array, Array]:
        """Ends (S, 2) of lines that are ROUGH, and values there (S, 2, 1 + M); none jumps."""
        middle = (self.eps[1:] + self.eps[:-1]) / 2.0
        error = np.abs(self.curve(middle) - (self.value[1:] + self.value[:-1]) / 2.0).max(axis=1)
        parts = np.ceil(np.sqrt(error / ROUGH)).clip(1).astype(int)
        shares = np.concatenate([np.arange(n) / n for n in parts])
        eps = self.eps[:-1].repeat(parts) + shares * np.diff(self.eps).repeat(parts)
        eps = np.append(eps, self.eps[-1])
        value, jumps = self.curve(eps), self.jumps.repeat(parts)
        ends, first = [], 0  # lines as long as they can be
        for k, jump in enumerate(jumps, 1):
            share = (eps[first + 1 : k, None] - eps[first]) / (eps[k] - eps[first])
            line = (1.0 - share) * value[first] + share * value[k]
            if jump or (np.abs(value[first + 1 : k] - line) > ROUGH).any():
                ends.append((first, k - 1))
                first = k if jump else k - 1
        at = np.array([*ends, (first, eps.size - 1)])
        return eps[at], value[at]

    def around(self, eps: float) -> tuple[float, float]:
        """The budgets to which nothing jumps from one."""
        k = int(np.clip(np.searchsorted(self.eps, eps + SAME_BUDGET) - 1, 0, self.eps.size - 1))
        jumps = np.flatnonzero(self.jumps)
        if k in jumps:  # between both ends of a jump: the nearer one
            k += int(eps - self.eps[k] > self.eps[k + 1] - eps)
        first = jumps[jumps < k].max(initial=-1) + 1
        last = jumps[jumps >= k].min(initial=self.eps.size - 1)
        return float(self.eps[first]), float(self.eps[last])


def over(sets: AcceptSets, functions: Piecewise) -> Array:
    """(B, J) integrals of the functions over each of the sets."""
    above = functions.above(sets.cut)
    return sets.first[:, None] * functions.totals + np.einsum("jbc,bc->bj", above, sets.sign)
