"""LFT+Ensemble over all budgets on densities, for every notion, cost and sight, any number of
groups: separable programming by branch and bound, then sequential quadratic programming.

An ensemble is one budget for each client, and everybody's utility and rates are sums over clients,
each a function of one budget:

    maximise Σ_i W_i(eps_i)  subject to  |r + Σ_i R_i(eps_i)| <= d.

*Tables.* A client's solutions are followed along its budget by Newton's method, all segments of a
table at once, and cubics join them: the slopes follow from the optimality conditions. Segments
whose middle is off the cubic are halved, those at a kink until they are narrow.

*Branch and bound.* With segments cut into lines, ``finite_segments`` picks a line for each client:
the best of all budgets, up to ROUGH. No local search could tell.

*Sequential quadratic programming* (scipy's SLSQP) on the cubics goes on from there. What it finds
is solved and certified; where that is not what the tables say it becomes a node of theirs, and they
are searched again next to it.
"""

from __future__ import annotations

import functools
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.densities import solve_by_dual
from fairfl.solvers.frontier import MET, SLACK_BUDGET, Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_ensemble.densities import average
from fairfl.solvers.lft_ensemble.finite_segments import Segments
from fairfl.solvers.numerics.accept_sets import AcceptSets
from fairfl.solvers.numerics.descent import ENOUGH
from fairfl.solvers.numerics.dual import DualPoint, dual_point, hessian, kkt_residual
from fairfl.solvers.numerics.newton import settled, stationary
from fairfl.solvers.problem import Problem, Task
from fairfl.solvers.rule_family import RuleFamily
from fairfl.solvers.solution import CertificationError, Solution
from fairfl.theory.numerics.piecewise import Piecewise
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation

LEVELS, FINER, ALONE = 5, 15, 5
"""How often all segments of a table are halved, and then those that are not what is between their
ends; where Newton's method fails at both, less often.
"""
FINE, ROUGH, MOST = 1e-10, 1e-6, 1000
"""How far a cubic, and a line, may be from the truth, unless a table has many nodes."""
TRUE = 1e-9
"""How far what is attained may be from what tables say."""
SAME = 1e-12
"""Budgets this close are one."""
JUMP = 1e-2
"""A rate of the client's that changes by more than this on a segment that is no line jumps."""
PARTS = 16
"""A segment is cut into no more lines."""
REPEATS = 10
"""Times that budgets become nodes, where tables are not the truth there."""
NEAR = 1e-11
"""Disparities are asked for with this much room: the rounding of HiGHS."""
RIDGE = 1e-15
"""Of a Hessian over its trace: constraints may depend on each other."""


@dataclass
class Table:
    """A client's solutions by its budget, and what they add to everybody's.

    Attributes
    ----------
    fed, task, own : its own problem.  weight : the client's.
    base, functions : everybody's worth and rates (1 + M,) of f = 0, and their densities at each
        place.
    eps : (N,) increasing.  lam : (N, K) multipliers.  value, slope : (N, 1 + M) the worth and the
        rates, and their derivatives; NaN where these are unknown.
    error : (N - 1,) how far a segment is from what joins its ends.
    solutions : by their budgets, those that were asked for by themselves.
    """

    fed: Federation
    task: Task
    own: RuleFamily
    weight: float
    base: Array
    functions: list[Piecewise]
    eps: Array
    lam: Array
    value: Array
    slope: Array
    error: Array
    solutions: dict[float, Solution] = field(default_factory=dict)

    @classmethod
    def of(
        cls, fed: Federation, task: Task, weight: float, base: Array, functions: list[Piecewise]
    ) -> Table:
        """Nodes up to the free rule's own disparity."""
        own, none = RuleFamily.of(fed, task), np.zeros(0)
        lam, value = np.zeros((0, own.problem.count)), np.zeros((0, base.size))
        table = cls(fed, task, own, weight, base, functions, none, lam, value, value, none)
        free = solve_by_dual(fed, task, np.ones(1)).disparity
        table.add(np.unique([0.0, free]))
        for level in range(LEVELS + FINER):
            ends = table.smooth_ends
            width = 1.01 * free / 2.0 ** np.where(ends == 0, LEVELS + ALONE, LEVELS + FINER)
            off = (table.error > np.where(ends == 0, ROUGH, FINE)) & (np.diff(table.eps) > width)
            k = np.flatnonzero(off | (level < LEVELS))
            if not k.size or table.eps.size > MOST:
                break
            table.add((table.eps[k] + table.eps[k + 1]) / 2.0)
        return table

    @property
    def smooth_ends(self) -> Array:
        """(N - 1,) how many ends of the segments have slopes: cubics join two."""
        known = np.isfinite(self.slope).all(axis=1).astype(int)
        return known[1:] + known[:-1]

    @cached_property
    def unit(self) -> float:
        """The largest cost."""
        return float(self.task.costs.max())

    def solution(self, eps: float) -> Solution:
        """The certified one at a budget."""
        if eps not in self.solutions:
            self.solutions[eps] = solve_by_dual(self.fed, self.task, np.array([eps]))
        return self.solutions[eps]

    def nearest(self, eps: float) -> float:
        """The node at a budget, if there is one, else the budget."""
        node = float(self.eps[np.abs(self.eps - eps).argmin()])
        return node if abs(node - eps) <= SAME else eps

    def add(self, eps: Array) -> None:
        """Make budgets (B,), no two on one segment, nodes, unless they are or are not certified."""
        if self.eps.size:
            near = np.abs(self.eps - eps[:, None]).min(axis=1)
            eps = eps[(near > SAME) & (eps < self.eps[-1])]
        if not eps.size:
            return
        found = self._followed(eps) if self.eps.size else self._alone(eps)
        known = np.isfinite(found[1]).all(axis=1)
        eps, found = eps[known], [v[known] for v in found]
        k = np.searchsorted(self.eps, eps)
        if self.error.size:
            guess = self.at(eps)[0]
            order = np.where(self.smooth_ends[k - 1] == 2, 16.0, 4.0)
            error = np.abs(guess - found[1]).max(axis=1) / order
            self.error[k - 1] = error
            self.error = np.insert(self.error, k, error)
        else:
            self.error = np.full(max(eps.size - 1, 0), np.inf)
        self.eps = np.insert(self.eps, k, eps)
        self.lam, self.value, self.slope = (
            np.insert(old, k, new, axis=0)
            for old, new in zip((self.lam, self.value, self.slope), found, strict=True)
        )

    def _followed(self, eps: Array) -> list[Array]:
        """Multipliers, values and slopes at budgets between nodes, by Newton's method; values are
        NaN where nothing is certified.
        """
        limits = self.own.limits(eps[:, None])
        high = np.searchsorted(self.eps, eps)
        part = (eps - self.eps[high - 1]) / (self.eps[high] - self.eps[high - 1])
        lam = self.lam[high - 1] + part[:, None] * (self.lam[high] - self.lam[high - 1])
        point = dual_point(self.own.problem, np.where(np.isfinite(limits), lam, 0.0))
        point, _ = settled(self.own.problem, point, limits)
        out = [point.lam, self._value(point), self._slope(point, limits)]
        left = np.flatnonzero(kkt_residual(point.lam, point.values, limits) > ENOUGH)
        for row, lost in zip(self._alone(eps[left]), out, strict=True):
            lost[left] = row
        return out

    def _alone(self, eps: Array) -> list[Array]:
        """The same, one by one, as ``solve`` has them; slopes where the rule is that of its
        multipliers.
        """
        count = self.own.problem.count
        lost = [np.zeros(count), *np.full((2, self.base.size), np.nan)]
        rows = []
        for budget in eps:
            try:
                found = self.solution(float(budget))
            except CertificationError:
                rows.append(lost)
                continue
            point = dual_point(self.own.problem, found.multipliers[None] / self.unit)
            limits = self.own.limits(np.array([[budget]]))
            met = kkt_residual(point.lam, point.values, limits)[0] <= ENOUGH
            value, rule = self.weight * self.base, found.classifier
            for own, edges, rates in zip(self.functions, rule.edges, rule.values, strict=False):
                served = rates[0] * own.totals + own.above(edges) @ np.diff(rates)
                value = value + self.weight * served
            slope = self._slope(point, limits)[0] if met else lost[2]
            rows.append([point.lam[0], value, slope])
        return [np.reshape([row[k] for row in rows], (-1, v.size)) for k, v in enumerate(lost)]

    def _value(self, point: DualPoint) -> Array:
        parts = [over(*each) for each in zip(point.sets, self.functions, strict=True)]
        return self.weight * (self.base + np.sum(parts, axis=0))

    def _slope(self, point: DualPoint, limits: Array) -> Array:
        """(B, 1 + M) derivatives in the budget: dλ keeps what binds at its limit."""
        free = ~point.lam.any(axis=1, keepdims=True) & (np.abs(point.values) >= limits - ENOUGH)
        signs = np.where(free, -np.sign(point.values), np.sign(point.lam))
        h = hessian(self.own.problem, point)
        ridge = RIDGE * np.trace(h, axis1=1, axis2=2) + 1e-300
        h = h + ridge[:, None, None] * np.eye(h.shape[1])
        zero = np.zeros(signs.shape)
        moved = stationary(h, zero, zero, signs, np.ones(signs.shape))
        flows = hessian(self.own.problem, point, self.functions)
        return self.weight * (flows @ moved[:, :, None])[:, :, 0]

    def at(self, eps: Array) -> tuple[Array, Array]:
        """Values and slopes (B, 1 + M) of what joins the nodes, at budgets (B,)."""
        k = np.clip(np.searchsorted(self.eps, eps) - 1, 0, max(self.eps.size - 2, 0))
        if self.eps.size == 1:
            return self.value[k], np.zeros((eps.size, self.base.size))
        width = np.diff(self.eps)[k][:, None]
        t = (eps - self.eps[k])[:, None] / width
        first, rise = self.value[k], self.value[k + 1] - self.value[k]
        smooth = self.smooth_ends[k][:, None] == 2
        low, high = (
            np.where(smooth, width * s - rise, 0.0) for s in (self.slope[k], -self.slope[k + 1])
        )
        high = np.where(smooth, high + 2.0 * rise, 0.0)
        bend = t * (1.0 - t)
        value = first + t * rise + bend * ((1.0 - t) * low + t * high)
        slope = rise + (1.0 - 2.0 * t) * ((1.0 - t) * low + t * high) + bend * (high - low)
        return value, slope / width

    @property
    def jumps(self) -> Array:
        """(N - 1,) on which segments a rate jumps: solutions of one worth to its client are not
        the same to others.
        """
        moved = np.abs(np.diff(self.value[:, 1:], axis=0)).max(axis=1, initial=0.0)
        return (self.error > ROUGH) & (moved > JUMP * self.weight)

    def lines(self) -> tuple[Array, Array]:
        """Ends (S, 2) of lines that are ROUGH, and values there (S, 2, 1 + M); those that jump are
        left out, their ends count.
        """
        middle = (self.eps[1:] + self.eps[:-1]) / 2.0
        off = np.abs(self.at(middle)[0] - (self.value[1:] + self.value[:-1]) / 2.0).max(axis=1)
        parts = np.clip(np.ceil(np.sqrt(off / ROUGH)), 1, PARTS).astype(int)
        shares = np.concatenate([np.arange(n) / n for n in parts] or [np.zeros(0)])
        eps = self.eps[:-1].repeat(parts) + shares * np.diff(self.eps).repeat(parts)
        eps = np.append(eps, self.eps[-1])
        value, jumps = self.at(eps)[0], self.jumps.repeat(parts)
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
        k = int(np.clip(np.searchsorted(self.eps, eps + SAME) - 1, 0, self.eps.size - 1))
        jumps = np.flatnonzero(self.jumps)
        if k in jumps:  # between both ends of a jump: the nearer one
            k += int(eps - self.eps[k] > self.eps[k + 1] - eps)
        first = jumps[jumps < k].max(initial=-1) + 1
        last = jumps[jumps >= k].min(initial=self.eps.size - 1)
        return float(self.eps[first]), float(self.eps[last])


def over(sets: AcceptSets, functions: Piecewise) -> Array:
    """(B, J) integrals of the functions over each of the sets."""
    out = sets.first[:, None] * functions.totals
    np.add.at(
        out, sets.owner, np.where(sets.rising, 1.0, -1.0)[:, None] * functions.above(sets.cut).T
    )
    return out


@dataclass(frozen=True)
class SegmentSearch:
    """The clients' tables."""

    fed: Federation
    model: ContinuousModel
    task: Task

    @cached_property
    def tables(self) -> list[Table]:
        """One table per client."""
        one, everybody = (
            replace(self.task, scheme="cfl"),
            RuleFamily.of(self.fed, self.task).everybody,
        )
        weights = enumerate(self.fed.weight)
        return [Table.of(self.fed.alone(i), one, float(w), *everybody) for i, w in weights]

    @cached_property
    def _segments(self) -> Segments:
        """The tables' lines, for branch and bound."""
        lines = [table.lines() for table in self.tables]
        client = np.repeat(np.arange(len(lines)), [len(ends) for ends, _ in lines])
        ends, values = (np.concatenate(v) for v in zip(*lines, strict=True))
        gain, rows = values[..., 0], np.moveaxis(values[..., 1:], -1, 0)
        nothing: Any = np.zeros((len(rows), 0))
        pooled = Problem(np.zeros(0), nothing, np.zeros(len(rows)), np.ones(len(rows)))
        return Segments(self.fed, self.task, client, ends, gain, rows, pooled)

    def model_at(self, eps: Array) -> tuple[Array, Array]:
        """Everybody's worth and rates (1 + M,) by the tables at budgets eps (I,), and the
        derivatives (1 + M, I).
        """
        found = [t.at(np.array([e])) for t, e in zip(self.tables, eps, strict=True)]
        values, slopes = (np.concatenate(v) for v in zip(*found, strict=True))
        return values.sum(axis=0), slopes.T

    def polished(self, eps: Array, disparity: float | None) -> Array:
        """The best budgets next to others by the tables, with at most a disparity; the least
        disparate ones (None).
        """
        ends = np.array([t.around(float(e)) for t, e in zip(self.tables, eps, strict=True)])
        low, size = ends[:, 0], np.ptp(ends, axis=1)
        moves = np.flatnonzero(size > 0)
        if not moves.size:
            return eps
        start = np.clip((eps - low)[moves] / size[moves], 0.0, 1.0)
        fixed = np.where(size > 0, low, np.clip(eps, *ends.T))
        least = disparity is None

        def budgets(x: Array) -> Array:
            out = fixed.copy()
            out[moves] += np.clip(x[: moves.size], 0.0, 1.0) * size[moves]
            return out

        @functools.lru_cache(maxsize=4)
        def model(key: bytes) -> tuple[Array, Array]:
            value, slope = self.model_at(budgets(np.frombuffer(key)))
            return value, slope[:, moves] * size[moves]

        def room(x: Array) -> Array:
            rates = model(x.tobytes())[0][1:]
            return (x[-1] if least else disparity) - np.concatenate([rates, -rates])

        def room_slope(x: Array) -> Array:
            slope = model(x.tobytes())[1][1:]
            return np.pad(
                -np.concatenate([slope, -slope]), ((0, 0), (0, int(least))), constant_values=1.0
            )

        if least:
            start = np.append(start, np.abs(self.model_at(eps)[0][1:]).max(initial=0.0))
        last = np.append(np.zeros(moves.size), 1.0)
        found = scipy.optimize.minimize(
            (lambda x: x[-1]) if least else (lambda x: -model(x.tobytes())[0][0]),
            start,
            jac=(lambda x: last) if least else (lambda x: -model(x.tobytes())[1][0]),
            bounds=[(0.0, 1.0)] * start.size,
            constraints={"type": "ineq", "fun": room, "jac": room_slope},
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 60},
        )
        return budgets(found.x) if np.isfinite(found.x).all() else eps

    def solved(self, disparity: float | None) -> Points:
        """What the best budgets for a disparity attain, or the least disparate ones (None). Where
        that is not what the tables say the budgets become nodes, and where it misses the disparity
        a smaller one is asked for.
        """
        wanted = None if disparity is None else disparity + NEAR
        found, eps = points_of(self.fed, []), self._segments.best(wanted)
        for k in range(REPEATS if eps is not None else 0):
            assert eps is not None
            eps = self.polished(eps, wanted)
            eps = np.array([t.nearest(float(e)) for t, e in zip(self.tables, eps, strict=True)])
            (worth, *rates), _ = self.model_at(eps)
            tried = self.tried(eps)
            found = found.join(tried)
            if tried.worth.size:
                reached, said = float(tried.disparity[0]), np.abs(rates).max(initial=0.0)
                over = reached - (said if disparity is None else min(said, disparity))
                lost = (worth - 1.0) - float(tried.worth[0] - 1.0) / self.unit
                if max(said - reached, abs(lost)) <= TRUE and over <= MET / 2.0:
                    break
                if k >= REPEATS // 2 and wanted is not None:
                    wanted = max(wanted - 2.0 * max(over, 0.0), 0.0)
            for table, one in zip(self.tables, eps, strict=True):
                table.add(np.array([one]))
        if disparity is None:
            return found
        met = found.disparity <= max(disparity + MET, found.disparity.min(initial=np.inf))
        return found.take(np.where(met, found.worth, -np.inf).argsort(kind="stable")[-1:])

    @property
    def unit(self) -> float:
        """The largest cost."""
        return float(self.task.costs.max())

    @cached_property
    def least(self) -> Points:
        """The least disparate ensembles."""
        return self.solved(None)

    def tried(self, eps: Array) -> Points:
        """What budgets attain, if that is certified."""
        free = np.array([table.eps[-1] for table in self.tables])
        budgets = np.where(eps >= free, SLACK_BUDGET, eps)
        found = []
        with suppress(CertificationError):
            own = [t.solution(float(e)) for t, e in zip(self.tables, budgets, strict=True)]
            found.append(average(self.fed, self.task, budgets, own))
        return points_of(self.fed, found)

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
