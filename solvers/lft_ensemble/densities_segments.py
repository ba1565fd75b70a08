"""LFT+Ensemble over all budgets on densities, for every notion, cost and sight, any number of
groups: a mixed-integer programme on tables of the clients' solutions.

An ensemble is one budget for each client, and everybody's utility and rates are sums over clients.
Between the nodes of a client's table they are nearly linear in its budget: ``finite_segments``
picks a segment for each client and a place on it. The segments next to the best budgets are halved
until they are narrow.
"""

from __future__ import annotations

import functools
import itertools
from contextlib import suppress
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

LEVELS, FINER = 5, 15
"""How often all segments of a client's table are halved, and then those that are no lines and those
around the best budgets.
"""
ROUGH, MOST = 1e-6, 300
"""How far a segment may be from a line where no budgets are sought, unless there are many."""
INNER = 0.875
"""A segment is split at no larger share of its length, and no smaller one than the rest."""
STRAIGHT = 1e-11
"""What is within this of a line is on it."""
SAME = 1e-12
"""Budgets this close are one."""
JUMP = 1e-2
"""A difference of rates that changes by more than this on a narrow segment jumps there."""
REPEATS = 10
"""Times that what misses a disparity is asked for a smaller one."""


@dataclass(frozen=True)
class Node:
    """A client's solution at a budget: its own worth and multipliers (K,), and what it adds to
    everybody's worth and rates (M,). ``error``: how far these are from lines up to the next node.
    """

    eps: float
    own: float
    lam: Array
    worth: float
    pooled: Array
    error: float = np.inf

    @property
    def added(self) -> Array:
        """(2 + M,) its own worth and what it adds."""
        return np.append([self.own, self.worth], self.pooled)


@dataclass
class Table:
    """A client's solutions by its budget.

    Attributes
    ----------
    fed, task, own : its own problem.  whole : everybody's.  weight : the client's.
    nodes : by increasing budget.  coarse : the budgets of the first ones.
    narrow : segments are not split below this width.
    """

    fed: Federation
    task: Task
    own: RuleFamily
    whole: RuleFamily
    weight: float
    nodes: list[Node] = field(default_factory=list)
    coarse: Array = field(default_factory=lambda: np.zeros(0))
    narrow: float = 0.0

    def start(self) -> None:
        """Nodes up to the free rule's own disparity."""
        free = solve_by_dual(self.fed, self.task, np.ones(1)).disparity
        for eps in (free, 0.0) if free > 0 else (0.0,):
            self.add(eps)
        self.narrow = 1.01 * free / 2 ** (LEVELS + FINER)
        for k in range(LEVELS + FINER):
            for node in self.nodes[-2::-1]:
                if k < LEVELS or (node.error > ROUGH and len(self.nodes) < MOST):
                    self.halve(node)
        self.coarse = self.eps

    @property
    def eps(self) -> Array:
        """(N,) budgets."""
        return np.array([node.eps for node in self.nodes])

    def solved(self, eps: float, near: Node | None, error: float = np.inf) -> Node:
        """The node at a budget, from the multipliers of another."""
        start = None if near is None else near.lam
        found = solve_by_dual(self.fed, self.task, np.array([eps]), start=start)
        own, _ = self.own.of_rule(found.classifier)
        worth, pooled = self.whole.of_rule(found.classifier)
        lam = found.multipliers
        return Node(eps, own, lam, self.weight * worth, self.weight * pooled, error)

    def add(self, eps: float) -> bool:
        """Make a budget a node, unless it is one; False where it is not certified."""
        near = self.near(eps) if self.nodes else None
        if near is not None and abs(near.eps - eps) <= SAME:
            return True
        k = int(np.searchsorted(self.eps, eps))
        error = self.nodes[k - 1].error if k > 0 else np.inf
        try:
            self.nodes.insert(k, self.solved(eps, near, error))
        except CertificationError:
            return False
        return True

    def near(self, eps: float) -> Node:
        """The nearest node."""
        return min(self.nodes, key=lambda node: abs(node.eps - eps))

    def around(self, eps: float) -> Array:
        """The nodes around a budget: the nearest, or the two that it is between, and one more on
        either side.
        """
        low = int(np.searchsorted(self.eps, eps - SAME))
        high = int(np.searchsorted(self.eps, eps + SAME, side="right")) - 1
        first, last = min(low, high), max(low, high)
        return np.arange(max(first - 1, 0), min(last + 2, len(self.nodes)))

    def refine(self, eps: float) -> None:
        """Halve the segments that a budget is on."""
        near = [self.nodes[k] for k in self.around(eps)]
        for low, high in itertools.pairwise(near):
            if low.eps <= eps + SAME and eps - SAME <= high.eps:
                self.halve(low)

    def halve(self, low: Node) -> None:
        """Split the segment from a node on, unless it is straight or narrow, where the lines of its
        ends meet: at the corner if there is one, and near the middle where the client's own worth,
        which is concave, is smooth. If that is on the line between the ends the segment is
        straight.
        """
        k = self.nodes.index(low)
        high = self.nodes[k + 1]
        width = high.eps - low.eps
        if low.error <= STRAIGHT or width <= self.narrow:
            return
        first, last = (float(np.abs(node.lam).sum()) for node in (low, high))
        bend = first - last
        part = (high.own - low.own - last * width) / (bend * width) if bend > 0 else 0.5
        part = min(max(part, 1.0 - INNER), INNER)
        error = 0.0
        if self.add(low.eps + part * width):
            middle = self.nodes[k + 1]
            line = (1.0 - part) * low.added + part * high.added
            error = float(np.abs(middle.added - line).max()) / 4.0
            self.nodes[k + 1] = replace(middle, error=error)
        self.nodes[k] = replace(low, error=error)


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

    def best(self, disparity: float | None, start: Array | None = None) -> Array | None:
        """(I,) budgets of the most useful ensemble with at most ``disparity``, or of the least
        disparate (None); next to ``start`` if that is given, else of all.
        """
        eps = start
        if eps is None:
            coarse = [np.searchsorted(table.eps, table.coarse) for table in self.tables]
            eps = self._segments(coarse).best(disparity)
        for _ in range(FINER):
            if eps is None:
                break
            known = self.known
            for table, one in zip(self.tables, eps, strict=True):
                table.refine(float(one))
            near = [t.around(float(one)) for t, one in zip(self.tables, eps, strict=True)]
            all_ = [np.arange(len(table.nodes)) for table in self.tables]
            eps = next(
                (
                    e
                    for own in (near, all_)
                    if (e := self._segments(own).best(disparity)) is not None
                ),
                None,
            )
            if self.known == known:
                break
        return eps

    @property
    def known(self) -> int:
        """How many nodes there are."""
        return sum(len(table.nodes) for table in self.tables)

    def _segments(self, windows: list[Array]) -> Segments:
        """The segments between the tables' nodes in the windows, and each node by itself."""
        client, eps, gain, rows = [], [], [], []
        for i, (table, own) in enumerate(zip(self.tables, windows, strict=True)):
            nodes = [table.nodes[k] for k in own]
            e, worth = np.array([(node.eps, node.worth) for node in nodes]).T
            pooled = np.stack([node.pooled for node in nodes], axis=1)
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

    def solved(self, disparity: float) -> Points:
        """What the best budgets for a disparity attain; where that is missed between nodes the
        budgets become nodes, and a smaller one is asked for if there is any.
        """
        found, wanted, eps = points_of(self.fed, []), disparity + NEAR, None
        for k in range(REPEATS):
            eps = self.best(wanted, eps)
            eps = self.best(disparity + NEAR) if eps is None else eps
            tried = self.tried(eps)
            found, over = found.join(tried), tried.disparity - disparity
            if eps is None or not (over > MET).any():
                break
            self.split(eps)
            if k >= REPEATS // 2:
                wanted = max(wanted - 2.0 * float(over[0]), 0.0)
        return found

    @cached_property
    def least(self) -> Points:
        """The least disparate ensembles; their budgets become nodes as long as others are less
        disparate.
        """
        found = points_of(self.fed, [])
        for _ in range(REPEATS):
            eps, before = self.best(None), found.disparity.min(initial=np.inf)
            found = found.join(self.tried(eps))
            if eps is None or not found.disparity.min(initial=np.inf) < before - MET:
                break
            self.split(eps)
        return found

    def tried(self, eps: Array | None) -> Points:
        """What budgets attain, if that is certified."""
        if eps is not None:
            free = np.array([table.nodes[-1].eps for table in self.tables])
            budgets = np.where(eps >= free, SLACK_BUDGET, eps)
            with suppress(CertificationError):
                found = solve_ensemble(self.fed, self.task, self.model, budgets)
                return points_of(self.fed, [found])
        return points_of(self.fed, [])

    def split(self, eps: Array) -> None:
        """Make budgets nodes."""
        for table, one in zip(self.tables, eps, strict=True):
            table.add(float(one))

    def attained(self, disparities: Array) -> Points:
        """What the best budgets for several disparities attain."""
        return functools.reduce(Points.join, [self.solved(float(d)) for d in disparities])

    def frontier(self, points: int) -> Frontier:
        """Up to ``points`` of it, at even steps."""
        ends = self.least.join(self.solved(1.0))
        wanted = np.linspace(ends.disparity.min(), ends.disparity.max(), points)
        found = self.attained(wanted).join(ends)

        def evaluate(disparity: Array) -> Points:
            return fitting(self.attained(disparity).join(found), disparity)

        return build("lft_ensemble", found, evaluate)

    def minimum(self) -> Points:
        """The least disparate ensemble, of several the most useful."""
        return self.least.join(self.solved(float(self.least.disparity.min()))).least
