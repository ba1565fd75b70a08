"""LFT+Ensemble over all budgets on a finite X, for every notion and any number of groups, by branch
and bound.

A client's own best utility is concave and piecewise linear in its budget, and where it is linear,
mixtures of the rules at both ends are optimal (Eisner and Severance, 1976, find the ends). So an
ensemble is a segment and a place on it for each client. Everybody's utility and rates are sums over
clients, linear along segments. With mixtures of a client's segments the best ensemble with at most
a given disparity is a linear programme, and an upper bound; where a client is on several segments,
its budgets are split between them, and both parts are bounded again.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_ensemble.finite import solve_ensemble_finite
from fairfl.solvers.lft_ensemble.finite_client_path import client_path
from fairfl.solvers.numerics.box_lp import optimum
from fairfl.solvers.numerics.highs import Programme
from fairfl.solvers.problem import Problem, Task, law_problem, own_problems
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation

LINEAR = 1e-12
"""Utilities within this of a line are on it."""
INSIDE = 1e-6
"""A segment without its ends begins at this share of its length."""
HALVES = 8
"""How often a segment is halved on which mixtures are not what ``solve`` takes."""
ALIKE = 1e-9
"""Probabilities this close are the same."""
CLOSE = 1e-12
"""Parts whose bound is no more than this above the best ensemble are left out."""
NODES = 2000
"""Parts that one search may look at; its best ensemble until then counts."""


@dataclass(frozen=True)
class Segments:
    """Segments of the clients' solutions, with what both ends add to the pooled problem.

    Attributes
    ----------
    client : (S,).  eps : (S, 2) budgets of the ends.  gain : (S, 2).  rows : (M, S, 2).
    pooled : everybody's problem with a budget of one.
    cut_short : the bounds of searches that ended at NODES parts.
    """

    fed: Federation
    task: Task
    client: Array
    eps: Array
    gain: Array
    rows: Array
    pooled: Problem
    cut_short: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, fed: Federation, task: Task) -> Segments:
        """All segments of all clients."""
        pooled = law_problem(fed, task)
        parts = _of_paths if pooled.path is not None else _of_solutions
        eps, gain, rows = zip(*parts(own_problems(fed, task), pooled), strict=True)
        client = np.repeat(np.arange(fed.n_clients), [len(own) for own in eps])
        weight = fed.weight[client, None]
        return cls(
            fed,
            task,
            client,
            np.concatenate(eps),
            weight * np.concatenate(gain),
            weight * np.concatenate(rows, axis=1),
            pooled,
        )

    def best(self, disparity: float | None) -> Array | None:
        """(I,) budgets of the most useful ensemble with at most ``disparity``, or of the least
        disparate (None); None where there is none.
        """
        shares = self.searched(disparity)[2]
        if shares is None:
            return None
        eps = np.zeros(self.fed.n_clients)
        np.add.at(eps, self.client, (shares * self.eps).sum(axis=1))
        free = np.array([self.eps[k].max() for k in self.whose])
        return np.where(eps >= free, 1.0, np.maximum(eps, 0.0))

    def searched(self, disparity: float | None) -> tuple[float, float, Array | None]:
        """The utility less its constant, or minus the disparity, of the best ensemble found, a
        bound on all others', and the shares (S, 2) of its segments' ends.
        """
        worth, shares = -np.inf, None
        left: list[tuple[float, int, Array, Array]] = []

        def look(some: Array) -> None:
            found = self._solved(disparity, some)
            if found is not None and found[0] > worth + CLOSE:
                heapq.heappush(left, (-found[0], next(count), some, found[1]))

        count = itertools.count()
        look(np.ones(len(self.client), bool))
        while left and -left[0][0] > worth + CLOSE and next(count) < NODES:
            bound, _, some, mixed = heapq.heappop(left)
            whole = mixed.sum(axis=1)
            alone = np.zeros(whole.size, bool)
            alone[[k[whole[k].argmax()] for k in self.whose]] = True
            found = self._solved(disparity, alone)
            if found is not None and found[0] > worth:
                worth, shares = found
            parted = [float(whole[k].max()) for k in self.whose]
            k = self.whose[int(np.argmin(parted))]
            if min(parted) >= 1.0 - ALIKE or -bound <= worth + CLOSE:
                continue
            place = int(whole[k] @ np.arange(k.size) / whole[k].sum())
            for other in (k[: place + 1], k[place + 1 :]):
                part = some.copy()
                part[other] = False
                look(part)
        bound = max(worth + CLOSE, -left[0][0] if left else -np.inf)
        if bound > worth + CLOSE:
            self.cut_short.append(bound)
        return worth, bound, shares

    @cached_property
    def whose(self) -> list[Any]:
        """Each client's segments, by increasing budgets."""
        order = np.lexsort((self.eps[:, 1], self.eps[:, 0]))
        return [order[self.client[order] == i] for i in range(self.fed.n_clients)]

    def _solved(self, disparity: float | None, some: Array) -> tuple[float, Array] | None:
        """The largest utility, or minus the least disparity, of mixtures of the segments in
        ``some``, and the shares (S, 2) of their ends; None where there are none.
        """
        programme, b = self.programme
        cost, high = np.zeros((2, 2 * self.client.size + self.pooled.levels + 1))
        high[:] = np.append(np.repeat(some, 2), np.ones(self.pooled.levels + 1))
        if disparity is None:
            cost[-1] = 1.0
        else:
            cost[: 2 * some.size], high[-1] = -self.gain.ravel(), disparity
        one, none = np.ones(self.fed.n_clients), np.full(b.size, np.inf)
        least, most = np.concatenate([one, -b, -none]), np.concatenate([one, none, -b])
        found = programme.refined(-cost, np.zeros(cost.size), high, least, most)
        if found is None:
            return None
        return found.value, found.x[: 2 * some.size].reshape(-1, 2)

    @cached_property
    def programme(self) -> tuple[Programme, Array]:
        """Of the shares of all ends, the pooled levels and the disparity: shares of each client,
        and the constraints, and their constants (R,).
        """
        pooled, known = self.pooled, np.isfinite(self.pooled.eps)
        level, half = pooled.v[known, pooled.u.size - pooled.levels :], pooled.eps[known, None]
        shared = np.concatenate([self.rows[known].reshape(len(level), -1), level], axis=1)
        owner = np.repeat(self.client, 2)
        whose = np.pad(
            (owner == np.arange(self.fed.n_clients)[:, None]) * 1.0,
            ((0, 0), (0, pooled.levels + 1)),
        )
        table = np.block([[whose], [shared, half], [shared, -half]])
        return Programme(table), pooled.b[known]

    def attained(self, budgets: Iterable[Array | None]) -> Points:
        """What budgets attain, certified; those that are not are left out."""
        found = []
        for eps in budgets:
            if eps is not None:
                with suppress(CertificationError):
                    found.append(solve_ensemble_finite(self.fed, self.task, eps))
        return points_of(self.fed, found)

    def frontier(self, points: int) -> Frontier:
        """Up to ``points`` of it, at even steps; exact where each client has one constraint and no
        search was cut short.
        """
        ends = self.attained([self.best(None), self.best(1.0)])
        wanted = np.linspace(ends.disparity[0], max(ends.disparity), points)
        found = self.attained([self.best(float(d)) for d in wanted]).join(ends)

        def evaluate(disparity: Array) -> Points:
            tried = self.attained([self.best(float(d)) for d in disparity])
            return fitting(tried.join(found), disparity)

        exact = not self.task.several and not self.cut_short
        return build("lft_ensemble", fitting(found, wanted), evaluate, exact)

    def bound(self, disparity: Array) -> Array:
        """(P,) what no ensemble with at most the disparities (P,) is worth more than."""
        return self.pooled.base + np.array([self.searched(float(d))[1] for d in disparity])

    def minimum(self) -> Points:
        """The least disparate ensemble, of several the most useful."""
        least = self.attained([self.best(None)])
        return least.join(self.attained([self.best(float(least.disparity[0]))])).least


Parts = Iterator[tuple[Array, Array, Array]]
"""Of each client its segments' budgets and gains (S, 2), and what they add to constraints
(M, S, 2).
"""


def _of_paths(own: list[Problem], pooled: Problem) -> Parts:
    """Where each has one constraint: the edges of its path."""
    for problem in own:
        assert problem.path is not None
        eps, md, worth = client_path(problem.path, pooled).edges
        yield eps, worth - pooled.base, md[None] - pooled.b[0]


def _of_solutions(own: list[Problem], pooled: Problem) -> Parts:
    """By its solutions."""
    cells = pooled.u.size - pooled.levels
    for problem in own:
        eps, rules = (np.array(v) for v in zip(*_Client(problem, cells).pieces(), strict=True))
        yield eps, rules @ pooled.u[:cells], np.einsum("mc,sec->mse", pooled.v[:, :cells], rules)


class _Client:
    """One client's own solutions by its budget."""

    def __init__(self, problem: Problem, cells: int) -> None:
        self.problem, self.cells = problem, cells
        # as ``solve`` has them: every corner is asked for again
        self.solved = functools.cache(lambda eps: optimum(problem, np.array([eps])))
        self.scale = np.where(np.isfinite(problem.eps), problem.eps, 0.0)

    def line(self, eps: float) -> tuple[float, float]:
        """The best own utility, and a slope of it."""
        f, lam, _ = self.solved(eps)
        return float(self.problem.u @ f), float(np.abs(lam) @ self.scale)

    def segments(self) -> list[tuple[float, float]]:
        """The budgets between which the best own utility is linear: where the lines at both ends
        meet it is on them, or there is a corner between.
        """
        found, left = [], [((0.0, *self.line(0.0)), (1.0, *self.line(1.0)))]
        while left:
            low, high = left.pop()
            bend = low[2] - high[2]
            rise = high[1] - low[1]
            meet = low[0] + (rise - high[2] * (high[0] - low[0])) / bend if bend > 0 else low[0]
            straight = abs(rise - low[2] * (high[0] - low[0])) <= LINEAR
            straight |= abs(rise - high[2] * (high[0] - low[0])) <= LINEAR
            if straight or not low[0] < meet < high[0]:
                found.append((low[0], high[0]))
                continue
            middle = (meet, *self.line(meet))
            left += [(low, middle), (middle, high)]
        return found

    def pieces(self) -> list[tuple[tuple[float, float], Array]]:
        """Budgets and rules (2, cells) at both ends of the segments; where ``solve`` does not take
        mixtures of the rules at the corners, of the corners by themselves and of what is between.
        """
        found = []
        for low, high in self.segments():
            first, middle, last = (self.solved(e)[0] for e in (low, (low + high) / 2.0, high))
            if np.abs(first - 2.0 * middle + last)[: self.cells].max() <= ALIKE:
                found.append(((low, high), np.stack([first, last])[:, : self.cells]))
            else:
                found += [*self.at(low), *self.at(high), *self.between(low, high, HALVES)]
        return list({ends: (ends, rules) for ends, rules in found}.values())

    def at(self, eps: float) -> list[tuple[tuple[float, float], Array]]:
        """One budget, as a segment."""
        return [((eps, eps), np.stack([self.solved(eps)[0][: self.cells]] * 2))]

    def between(
        self, low: float, high: float, halves: int
    ) -> list[tuple[tuple[float, float], Array]]:
        """The segment, where ``solve`` takes mixtures; else, of several optima, its halves."""
        shares = np.array([INSIDE, 0.5, 1.0 - INSIDE])
        budgets = [float(eps) for eps in (1.0 - shares) * low + shares * high]
        first, middle, last = (self.solved(eps)[0][: self.cells] for eps in budgets)
        if np.abs(first - 2.0 * middle + last).max() <= ALIKE:
            return [((budgets[0], budgets[2]), np.stack([first, last]))]
        if not halves:
            return self.at(budgets[1])
        parts = (low, budgets[1]), (budgets[1], high)
        return [piece for part in parts for piece in self.between(*part, halves - 1)]
