"""The frontier of local training at one budget for all clients: the non-dominated points of the
path eps -> solution, 0 <= eps <= 1.

The path is known at some budgets and taken to be linear between them; between two of them a
disparity is met by a root. On a finite X the path is piecewise linear where two groups have one
rate. LFT+Ensemble's is the mean of the clients' own, whose segments are known: it breaks, or jumps,
where one of these does. LFT+FedAvg's breaks where its utility, which is concave in eps, does. Where
the pooled difference still bends between breaks the interval is halved. On laws the path is solved
at even budgets, where the difference changes its sign, and beside each smallest disparity and
largest utility. An ensemble of more groups or rates on a finite X may jump in many places: it is
solved at breaks, at even budgets, and beside each extremum. Thousands of points have thousands of
breaks: the path is then taken to be linear between those that bend it the most.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.budget_path import BudgetPath
from fairfl.solvers.frontier import Frontier, Points, build, fitting, non_dominated
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments as ClientSegments
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.solvers.numerics.segments import Segments, concave_breaks
from fairfl.solvers.problem import Problem, clients_problem
from fairfl.solvers.solution import (
    FINITE_TOLERANCE,
    LAW_TOLERANCE,
    CertificationError,
    Solution,
    tolerance,
)
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import BEND, COMMON_MET
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel

EVEN = 64
"""Even budgets, at least: a disparity that falls and rises between two of them is not seen."""
HALVINGS, COARSE = 25, 10
"""Halvings of intervals beside an extremum or a bend; and where the path may jump often."""
CELLS = 1_000_000
"""LFT+FedAvg's budgets on a finite X times its cells: 500 budgets of 1,000 points and two groups,
which take some five seconds.
"""
NARROW = 1e-10
"""Share of an interval in which a disparity that is not met jumps."""

Solve = Callable[[Array], Solution]
"""The certified solution at budgets (I,)."""
Values = Callable[[Array], tuple[Array, Array]]
"""Of budgets (P,): MD, of several differences the disparity, and 1 + the utility."""


def common_frontier(fed: Federation, task: Task, points: int, solve: Solve) -> Frontier:
    """The frontier of LFT+FedAvg or LFT+Ensemble at one budget for all clients."""
    path = _path(fed, task, points, CommonBudgets(fed.n_clients, solve))
    evaluate = partial(_attained, fed, path)
    targets = np.linspace(path.segments.smallest, path.segments.largest, points)
    exact = fed.is_finite and not task.several and path.complete
    return build(task.scheme.name, evaluate(targets), evaluate, exact)


def _attained(fed: Federation, path: Path, disparity: Array) -> Points:
    """The best points of the path with at most the disparities (P,)."""
    eps, md, worth = path.meeting(disparity)
    gap = np.where(np.abs(md) <= tolerance(fed), 0.0, np.abs(md))
    return fitting(Points(gap, worth, _all(eps, fed.n_clients)), disparity)


@dataclass
class CommonBudgets:
    """The solutions at one budget for all ``clients``, each solved once."""

    clients: int
    solve: Solve
    solutions: dict[float, Solution] = field(default_factory=dict)

    def at(self, eps: float) -> Solution:
        """The certified one at a budget."""
        if eps not in self.solutions:
            self.solutions[eps] = self.solve(np.full(self.clients, eps))
        return self.solutions[eps]

    def values(self, eps: Array) -> tuple[Array, Array]:
        """Differences and worths at budgets (P,), NaN where none is certified."""
        out = np.full((2, eps.size), np.nan)
        for k, budget in enumerate(eps):
            with suppress(CertificationError):
                solution = self.at(float(budget))
                out[:, k] = solution.signed, 1.0 + solution.utility
        return out[0], out[1]

    def slope(self, problem: Problem, eps: float) -> tuple[float, float]:
        """The utility at a budget, and what one more unit of it is worth."""
        solution = self.at(eps)
        return solution.utility, problem.slope(solution.multipliers)


def _path(fed: Federation, task: Task, points: int, common: CommonBudgets) -> Path:
    """The path at the budgets between which it is, or is taken to be, linear."""
    model, averaged = fed.model, task.scheme.is_averaged
    if not isinstance(model, FiniteModel):
        path = Path(common.values if averaged else BudgetPath.of(fed, task).signed)
        if averaged and task.plain:
            curve = EnsembleCurve(fed, model)
            path = Path(lambda eps: curve.at(curve.solved(_all(eps, fed.n_clients))))
        largest_disparity = float(np.nan_to_num(common.at(1.0).local_disparities).max())
        path.add(np.append(np.linspace(0.0, min(largest_disparity, 1.0), max(points, EVEN)), 1.0))
        path.cross_zero()
        path.refine(HALVINGS)
        return path
    if averaged:  # it may jump just below a break
        segments = ClientSegments.of(fed, task)
        path = Path(common.values if task.several else segments.common)
        breaks = np.unique(np.clip(np.append([0.0, 1.0], segments.eps), 0.0, 1.0))
        if task.several:
            even = np.linspace(0.0, 1.0, EVEN)
            path.add(even)
            breaks = breaks[np.unique((even * (breaks.size - 1)).round().astype(int))]
        else:
            breaks = np.append(breaks, np.nextafter(breaks[1:], 0.0))
        path.add(breaks)
        if task.several:
            path.refine(COARSE)
    else:
        path, problem = Path(common.values), clients_problem(fed, task)
        most_breaks = max(EVEN, CELLS // problem.u.size)
        path.add(concave_breaks(partial(common.slope, problem), most_breaks))
        path.halve_bends(BEND if task.several else FINITE_TOLERANCE, most_breaks)
    return path


class Path:
    """The pooled differences and worths at increasing budgets ``eps``, NaN if not certified;
    whether these are ``complete``, or a limit of their number was reached.
    """

    def __init__(self, values: Values) -> None:
        self.values, self.complete = values, True
        self.eps, self.md, self.worth = (np.zeros(0) for _ in range(3))

    def add(self, eps: Array) -> None:
        """The path at more budgets."""
        new = np.setdiff1d(eps, self.eps)
        if not new.size:
            return
        table = np.hstack([[self.eps, self.md, self.worth], [new, *self.values(new)]])
        self.eps, self.md, self.worth = table[:, np.argsort(table[0])]

    def halve_bends(self, slack: float, limit: int) -> None:
        """Halve intervals until the path is linear on each: it is on those whose middle is on the
        chord, within ``slack``, since there the disparity is convex. What is no more useful than a
        fair rule is not on the frontier. At ``limit`` budgets it ends.
        """
        low, high = self.eps[:-1], self.eps[1:]
        for _ in range(HALVINGS):
            self.complete = not low.size or self.eps.size < limit
            if not (low.size and self.complete):
                break
            middle = (low + high) / 2
            self.add(middle)
            k, a, b = (np.searchsorted(self.eps, end) for end in (middle, low, high))
            bent = np.abs(self.md[k] - (self.md[a] + self.md[b]) / 2) > slack
            fair = self.worth[np.abs(self.md) <= FINITE_TOLERANCE].max(initial=-np.inf)
            bent &= self.worth[b] > fair + COMMON_MET
            low, middle, high = low[bent], middle[bent], high[bent]
            low, high = np.append(low, middle), np.append(middle, high)

    def cross_zero(self) -> None:
        """The budgets at which the difference changes its sign."""
        k = np.flatnonzero(self.md[:-1] * self.md[1:] < 0)
        if k.size:
            low, high, sign = self.eps[k], self.eps[k + 1], np.sign(self.md[k + 1])
            self.add(Crossings(Visits(self.values), low, high, sign, np.zeros(k.size)).budgets)

    def refine(self, halvings: int) -> None:
        """Halve the intervals beside smallest disparities and largest utilities that no other
        budget beats in both.
        """
        for _ in range(halvings):
            d = np.abs(self.md)
            k = np.append(_peaks(-d), _peaks(self.worth))
            k = np.intersect1d(k, non_dominated(d, self.worth))
            if not k.size:
                break
            ends = np.concatenate([self.eps[k - 1], self.eps[k + 1]])
            self.add((ends + np.tile(self.eps[k], 2)) / 2)

    @cached_property
    def segments(self) -> Segments:
        """Between neighbouring budgets, as if the path were linear there. Where no double lies
        between them, or the next solution is missing, the path may jump: the segment is its first
        end. So is the last budget, at which a jump may end.
        """
        is_solved, first = np.isfinite(self.md), np.arange(self.eps.size)
        last = np.minimum(first + 1, first[-1])
        jump = ~is_solved[last] | (self.eps[last] <= np.nextafter(self.eps[first], 1.0))
        ends = np.stack([first, np.where(jump, first, last)], axis=1)[is_solved[first]]
        md, worth, eps = self.md[ends], self.worth[ends], self.eps[ends, None]
        return Segments.folded(md, worth, eps, ends[:, 0]).undominated()

    def meeting(self, disparity: Array) -> Array:
        """Budgets, differences and worths (3, P) that are known, and of all budgets that are tried
        to meet the disparities.
        """
        computed = np.stack([self.eps, self.md, self.worth])[:, np.isfinite(self.md)]
        visits = Visits(self.values, [computed])
        segment, place = self.segments.best(disparity)
        low, high = self.segments.ends[segment, :, 2].T
        md = visits.difference(np.where(place == 1.0, high, low + place * (high - low)))
        miss = (place > 0.0) & (place < 1.0) & (np.abs(np.abs(md) - disparity) > COMMON_MET)
        if miss.any():
            sign, goal = np.sign(md[miss]), disparity[miss]
            visits.difference(Crossings(visits, low[miss], high[miss], sign, goal).budgets)
        return np.hstack(visits.tables)


@dataclass
class Visits:
    """The ``tables`` (3, P) of the budgets that were tried, with their differences and worths."""

    values: Values
    tables: list[Array] = field(default_factory=list)

    def difference(self, eps: Array) -> Array:
        """Differences (P,) at budgets (P,)."""
        self.tables.append(np.stack([eps, *self.values(eps)]))
        return self.tables[-1][1]


@dataclass(frozen=True)
class Crossings:
    """Budgets with sign·MD = disparity between ``low`` (P,), where it is less, and ``high``."""

    visits: Visits
    low: Array
    high: Array
    sign: Array
    disparity: Array

    def excess(self, place: Array, index: Array) -> Array:
        """sign·MD - disparity at places in [0, 1] between both ends."""
        eps = self.low[index] + place * (self.high - self.low)[index]
        return self.sign[index] * self.visits.difference(eps) - self.disparity[index]

    @property
    def budgets(self) -> Array:
        """(P,) by root finding."""
        size = self.low.size
        start, end, rows = np.zeros(size), np.ones(size), np.arange(size)
        ends = self.excess(start, rows), self.excess(end, rows)
        place = increasing_root(self.excess, start, end, *ends, COMMON_MET, NARROW)
        return self.low + place * (self.high - self.low)


def _peaks(values: Array) -> Array:
    """Where values (P,) are as large as at both neighbours, and larger than at one."""
    beside = (values[1:-1] - np.stack([values[:-2], values[2:]])) / LAW_TOLERANCE
    return 1 + np.flatnonzero((beside.min(axis=0) >= -1.0) & (beside.max(axis=0) > 1.0))


def _all(eps: Array, clients: int) -> Array:
    """(P, I) the same budgets (P,) for all clients."""
    return np.repeat(eps[:, None], clients, axis=1)
