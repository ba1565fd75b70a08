"""LFT+FedAvg over all budgets on a finite X with too many vertices: a search by pivots between
optimal bases.

Some budgets are solved; from their rules pivots (``pivots``) first decrease the disparity and then
increase the accuracy. CFL's frontier is an upper bound: a rule that attains it is optimal. Every
point is solved again for its budgets and certified for them. That no other budgets do better is
proven only where CFL's bound is attained.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.frontier import cfl_frontier
from fairfl.solvers.frontier import SLACK_BUDGET, Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_fedavg.finite import fedavg_problems, solve_fedavg_finite
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.numerics.pivots import Basis, Goal, Pivots
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel

STARTS = 80
"""Budgets that the search starts from: in the first few clients are bound, in the last all, by
turns to next to 0.
"""
NEARLY = 1e-4
"""The smallest budget used in place of 0, where the linear programme is degenerate."""
MARGIN = 0.01
"""Tight budgets are drawn up to the |MD_i| of the most accurate rule, and this more."""
COARSE = 16
"""Disparities at which all starts climb; between them only the rules found next to a disparity
do.
"""
LOOK = 4
"""Bases of one rule that are looked at for a better one."""
APART = 1e-12
"""Gains are changed by up to this share, so that no two cells tie by more than a basis."""
FAIR = 1e-12
"""Disparities up to this are zero."""
REACHED = 1e-13
"""A rule this close to CFL's accuracy has reached it."""


@dataclass
class FedAvgSearch:
    """A federation's pivots, clients in an order of their own, and the rules that were found."""

    fed: Federation
    model: FiniteModel
    task: Task
    pivots: Pivots
    base: float
    order: Array
    cfl: Frontier
    starts: list[Basis]
    known: list[Basis] = field(default_factory=list)

    @classmethod
    def of(cls, fed: Federation, model: FiniteModel, task: Task) -> FedAvgSearch:
        """Solve the budgets to start from.

        Neither the order of the clients nor the groups' names matter: both are put in an order of
        their own.
        """
        local, everybody = fedavg_problems(fed, model, task)
        u, v, pooled = local.u, local.v, everybody.v[0]
        if pooled @ (u > 0) < 0:
            seen = np.arange(u.size).reshape(local.shape)[:, ::-1].ravel()  # groups turned round
            u, v, pooled = u[seen], -v[:, seen], -pooled[seen]
        order = np.argsort(v @ np.cos(np.arange(u.size)), kind="stable")
        v = v[order]
        rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
        size = np.where(u == 0, np.abs(v).max(axis=0) * np.abs(u).max(), np.abs(u))
        pivots = Pivots(u + APART * size * rng.uniform(-1.0, 1.0, u.size), v, pooled)
        free = np.abs(v @ (u > 0)) + MARGIN
        tight = rng.random((STARTS, len(v))) < np.linspace(0.0, 1.0, STARTS)[:, None]
        scale = np.where(np.arange(STARTS) % 2, 1.0, NEARLY)[:, None]
        starts = [pivots.free()]
        for eps in np.where(tight, scale * free * rng.random(tight.shape), SLACK_BUDGET):
            with suppress(CertificationError):
                solved = solve_box(replace(local, u=pivots.u, v=v, eps=eps), settle=False)
                basis = pivots.basis(solved.f, solved.multipliers)
                starts += [] if basis is None else [basis]
        return cls(fed, model, task, pivots, local.base, order, cfl_frontier(fed, 2, task), starts)

    def lowest(self) -> float:
        """The smallest |MD| that a start reaches; the rules reached are known from then on."""
        low = [self._down(start, 0.0) for start in self.starts]
        self.known = low
        return min(abs(self.pivots.md(rule)) for rule in low)

    def _down(self, start: Basis, disparity: float) -> Basis:
        md, pooled = self.pivots.md(start), self.pivots.pooled
        if abs(md) <= disparity:
            return start
        goal = Goal(-pooled, disparity, np.inf) if md > 0 else Goal(pooled, -np.inf, -disparity)
        return self.pivots.climb(start, goal, LOOK)

    def best(self, disparity: float, starts: Iterable[Basis]) -> Basis | None:
        """The most accurate rule with |MD| <= disparity that climbs from ``starts`` reach."""
        goal = Goal(self.pivots.u, -disparity, disparity)
        top = float(self.cfl.accuracy_at(disparity)) - self.base
        best, worth = None, -np.inf
        for start in starts:
            rule = self._down(start, disparity)
            if abs(self.pivots.md(rule)) > disparity + FAIR:
                continue
            rule = self.pivots.climb(rule, goal, LOOK)
            gain = float(self.pivots.u @ rule.f)
            if gain > worth:
                best, worth = rule, gain
            if worth >= top - REACHED:
                break
        return best

    def near(self, disparity: float) -> list[Basis]:
        """The known rules next to a disparity, two on either side."""
        md = np.array([abs(self.pivots.md(rule)) for rule in self.known])
        order = np.argsort(md, kind="stable")
        k = int(np.searchsorted(md[order], disparity + FAIR, side="right"))
        return [self.known[j] for j in [*order[max(k - 2, 0) : k][::-1], *order[k : k + 2]]]

    def solved(self, rules: Iterable[Basis | None]) -> Points:
        """What the rules' budgets attain, solved again and certified; those that are not certified
        are left out.
        """
        return self.attained([self.budgets(rule) for rule in rules if rule is not None])

    def budgets(self, rule: Basis) -> Array:
        """(I,) budgets that a rule solves, clients in the federation's order."""
        local = np.abs(self.pivots.v @ rule.f)
        eps = np.empty(local.size)
        eps[self.order] = np.where(rule.bound, np.where(local <= FAIR, 0.0, local), SLACK_BUDGET)
        return eps

    def attained(self, budgets: list[Array]) -> Points:
        """What budgets attain, certified; those that are not are left out."""
        found = []
        for eps in budgets:
            with suppress(CertificationError):
                found.append(solve_fedavg_finite(self.fed, self.model, self.task, eps))
        return points_of(self.fed, found)

    def frontier(self, points: int) -> Frontier:
        """Up to ``points`` of it, at even steps from the smallest disparity to that of the most
        accurate rule.
        """
        low = self.lowest()
        ends = self.attained([np.full(self.order.size, SLACK_BUDGET), np.zeros(self.order.size)])
        targets = np.linspace(low, max(low, float(ends.disparity[0])), points)[:-1]
        coarse = np.arange(targets.size) % -(-points // COARSE) == 0
        first = [self.best(d, [*self.starts, *self.known]) for d in targets[coarse]]
        self.known = [rule for rule in [*first, self.starts[0]] if rule is not None]
        more = [self.best(d, self.near(d)) for d in targets[~coarse]]
        self.known += [rule for rule in more if rule is not None]
        found = self.solved(self.known).join(ends)

        def evaluate(disparity: Array) -> Points:
            tried = self.solved(self.best(float(d), self.near(float(d))) for d in disparity).join(
                found
            )
            return fitting(tried, disparity)

        return build("lft_fedavg", found, evaluate)

    def minimum(self) -> Points:
        """The least disparate rule found, of several fair ones the most accurate."""
        low = self.lowest()
        found = self.solved([self.best(low, [*self.starts, *self.known])])
        return found.join(self.attained([np.zeros(self.order.size)])).least
