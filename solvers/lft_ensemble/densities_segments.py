"""LFT+Ensemble over all budgets on densities, for every notion, cost and sight, any number of
groups: a mixed-integer programme on tables of the clients' solutions.

An ensemble is one budget for each client, and everybody's utility and rates are sums over clients.
Between the nodes of a client's table they are nearly linear in its budget: ``finite_segments``
picks a segment for each client and a place on it. The segments next to the best budgets are halved
until they are narrow.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import MET, SLACK_BUDGET, Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_ensemble.densities import solve_ensemble
from fairfl.solvers.lft_ensemble.finite_segments import NEAR, Segments
from fairfl.solvers.numerics.certify import solve_by_dual
from fairfl.solvers.numerics.rule_family import RuleFamily
from fairfl.solvers.problem import Problem, Task
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation

NODES = 33
"""Nodes of a client's table before halving."""
HALVINGS = 5
"""How often the segments around the best budgets are halved."""
SAME = 1e-12
"""Budgets this close are one."""
JUMP = 1e-2
"""A difference of rates that changes by more than this on a narrow segment jumps there."""
REPEATS = 6
"""Times that what misses a disparity is asked for a smaller one."""
SOUND = 1e-8
"""Solutions that meet their budgets less exactly are mixtures of several: no node."""


@dataclass
class Table:
    """A client's solutions by its budget, and what each adds to the pooled problem.

    Attributes
    ----------
    fed, task, own : its own problem.  whole : everybody's.  weight : the client's.
    eps : (N,) increasing.  worth : (N,) and pooled : (M, N), weighted.
    """

    fed: Federation
    task: Task
    own: RuleFamily
    whole: RuleFamily
    weight: float
    eps: Array = field(default_factory=lambda: np.zeros(0))
    worth: Array = field(default_factory=lambda: np.zeros(0))
    pooled: Array = field(default_factory=lambda: np.zeros((0, 0)))
    lam: Array = field(default_factory=lambda: np.zeros((0, 0)))
    coarse: Array = field(default_factory=lambda: np.zeros(0))
    narrow: float = 0.0

    def start(self) -> None:
        """NODES even budgets up to the free rule's own disparity."""
        free = float(self.own.at(np.zeros((1, self.own.problem.count))).local.max(initial=0.0))
        self.add(np.linspace(free, 0.0, NODES) if free > 0 else np.zeros(1))
        self.coarse, self.narrow = self.eps, 1.01 * free / (NODES - 1) / 2**HALVINGS

    def add(self, eps: Iterable[float]) -> None:
        """Nodes at more budgets."""
        for one in eps:
            budget = np.array([one])
            near = self.lam[np.abs(self.eps - one).argmin()] if self.eps.size else None
            rule = self.own.solve(budget, start=near)
            if rule.local[0].max(initial=0.0) <= one + SOUND and rule.excess.max() <= SOUND:
                worth, pooled = self.whole.of_sets(rule.point.sets)
            else:
                try:  # the optimum is a mixture of rules
                    found = solve_by_dual(self.fed, self.task, budget)
                except CertificationError:
                    continue
                worth, pooled = self.whole.of_rule(found.classifier)
            k = int(np.searchsorted(self.eps, one))
            if not self.eps.size:
                self.pooled = np.zeros((pooled.size, 0))
                self.lam = np.zeros((0, rule.lam.shape[1]))
            self.eps = np.insert(self.eps, k, one)
            self.worth = np.insert(self.worth, k, self.weight * worth)
            self.pooled = np.insert(self.pooled, k, self.weight * pooled, axis=1)
            self.lam = np.insert(self.lam, k, rule.lam[0], axis=0)

    def around(self, eps: float) -> Array:
        """The nodes around a budget: the nearest, or the two that it is between, and one more on
        either side.
        """
        low = int(np.searchsorted(self.eps, eps - SAME))
        high = int(np.searchsorted(self.eps, eps + SAME, side="right")) - 1
        first, last = min(low, high), max(low, high)
        return np.arange(max(first - 1, 0), min(last + 2, self.eps.size))

    def halve(self, eps: float) -> None:
        """Halve the segments that a budget is on, unless they are narrow."""
        near = self.eps[self.around(eps)]
        low, high = near[:-1], near[1:]
        on = (low <= eps + SAME) & (eps - SAME <= high) & (high - low > self.narrow)
        self.add((low[on] + high[on]) / 2.0)

    def split(self, eps: float) -> None:
        """Make a budget a node."""
        if np.abs(self.eps - eps).min() > SAME:
            self.add([eps])


@dataclass(frozen=True)
class SegmentSearch:
    """The clients' tables."""

    fed: Federation
    model: ContinuousModel
    task: Task

    @cached_property
    def tables(self) -> list[Table]:
        """One table per client."""
        whole, clients = RuleFamily.of(self.fed, self.task), range(self.fed.n_clients)
        one = replace(self.task, scheme="cfl")
        alone = [self.fed.alone(i) for i in clients]
        found = [
            Table(fed, one, RuleFamily.of(fed, self.task), whole, float(weight))
            for fed, weight in zip(alone, self.fed.weight, strict=True)
        ]
        for table in found:
            table.start()
        return found

    def best(self, disparity: float | None) -> Array | None:
        """(I,) budgets of the most useful ensemble with at most ``disparity``, or of the least
        disparate (None).
        """
        coarse = [np.searchsorted(table.eps, table.coarse) for table in self.tables]
        eps = self._segments(coarse).best(disparity)
        for _ in range(HALVINGS):
            if eps is None:
                break
            for table, one in zip(self.tables, eps, strict=True):
                table.halve(float(one))
            near = [t.around(float(one)) for t, one in zip(self.tables, eps, strict=True)]
            all_ = [np.arange(table.eps.size) for table in self.tables]
            eps = next(
                (
                    e
                    for own in (near, all_)
                    if (e := self._segments(own).best(disparity)) is not None
                ),
                None,
            )
        return eps

    def _segments(self, windows: list[Array]) -> Segments:
        """The segments between the tables' nodes in the windows, and each node by itself."""
        client, eps, gain, rows = [], [], [], []
        for i, (table, own) in enumerate(zip(self.tables, windows, strict=True)):
            e, worth, pooled = table.eps[own], table.worth[own], table.pooled[:, own]
            first = np.arange(max(e.size - 1, 1))
            ends = np.stack([first, np.minimum(first + 1, e.size - 1)], axis=1)
            moved = np.abs(pooled[:, ends[:, 1]] - pooled[:, ends[:, 0]]).max(axis=0, initial=0.0)
            jump = (np.diff(e[ends], axis=1)[:, 0] <= table.narrow) & (moved > JUMP)
            alone = np.unique(ends[jump])  # a jump is left out, its ends count
            ends = np.concatenate([ends[~jump], np.stack([alone, alone], axis=1)])
            client.append(np.full(len(ends), i))
            eps.append(e[ends])
            gain.append(worth[ends])
            rows.append(pooled[:, ends])
        count = len(rows[0])
        nothing: Any = np.zeros((count, 0))
        pooled = Problem(np.zeros(0), nothing, np.zeros(count), np.ones(count))
        who, budgets, worths = (np.concatenate(v) for v in (client, eps, gain))
        model: Any = self.model
        every = np.concatenate(rows, axis=1)
        return Segments(self.fed, model, self.task, who, budgets, worths, every, pooled)

    def solved(self, disparity: float | None) -> Points:
        """What the best budgets for a disparity attain, certified; where that is missed between
        nodes the budgets become nodes, and a smaller one is asked for if there is any.
        """
        found, wanted = points_of(self.fed, []), None if disparity is None else disparity + NEAR
        for _ in range(REPEATS):
            eps = self.best(wanted)
            if eps is None and disparity is not None:
                eps = self.best(disparity + NEAR)
            if eps is None:
                break
            free = np.array([table.eps[-1] for table in self.tables])
            try:
                s = solve_ensemble(
                    self.fed, self.task, self.model, np.where(eps >= free, SLACK_BUDGET, eps)
                )
            except CertificationError:
                break
            found = found.join(points_of(self.fed, [s]))
            if disparity is None or wanted is None or s.disparity <= disparity + MET:
                break
            for table, one in zip(self.tables, eps, strict=True):
                table.split(float(one))
            wanted = max(wanted - 1.1 * (s.disparity - disparity), 0.0)
        return found

    def attained(self, disparities: Iterable[float | None]) -> Points:
        """The same for several disparities."""
        return functools.reduce(Points.join, [self.solved(d) for d in disparities])

    def frontier(self, points: int) -> Frontier:
        """Up to ``points`` of it, at even steps."""
        ends = self.attained([None, 1.0])
        wanted = np.linspace(ends.disparity.min(), ends.disparity.max(), points)
        found = self.attained([float(d) for d in wanted]).join(ends)

        def evaluate(disparity: Array) -> Points:
            return fitting(self.attained([float(d) for d in disparity]).join(found), disparity)

        return build("lft_ensemble", found, evaluate)

    def minimum(self) -> Points:
        """The least disparate ensemble, of several the most useful."""
        least = self.solved(None)
        return least.join(self.solved(float(least.disparity[0]))).least
