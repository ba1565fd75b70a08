"""The frontier of local training at one budget for all clients: the non-dominated points of the
path eps -> solution, 0 <= eps <= 1.

The path is known at some budgets and taken to be linear between them; between two of them a
disparity is met by a root. On a finite X it is piecewise linear where two groups have one rate:
LFT+Ensemble's breaks, or jumps, where a client's own does, LFT+FedAvg's where its utility, which is
concave in eps, does; where the difference still bends the interval is halved. On laws it is solved
at even budgets, where the difference changes its sign, and beside each smallest disparity and
largest utility. Ensembles of more groups or rates may jump in many places: they are solved at
breaks, at even budgets, and beside each extremum. Of thousands of breaks those count that bend it
the most.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.budget_path import BudgetPath
from fairfl.solvers.frontier import Frontier, Points, build, fitting, non_dominated
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments as ClientSegments
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.solvers.numerics.segments import Segments, concave_breaks
from fairfl.solvers.problem import clients_problem
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
NARROW = 1e-10  # share of an interval in which a disparity that is not met jumps

Solve = Callable[[Array], Solution]  # the certified solution at budgets (I,)
Values = Callable[[Array], tuple[Array, Array]]
"""Of budgets (P,): MD, of several differences the disparity, and 1 + the utility."""


def common_frontier(fed: Federation, task: Task, points: int, solve: Solve) -> Frontier:
    """The frontier of LFT+FedAvg or LFT+Ensemble at one budget for all clients."""
    path = _path(fed, task, points, cache(lambda eps: solve(np.full(fed.n_clients, eps))))

    def evaluate(disparity: Array) -> Points:
        eps, md, worth = path.meeting(disparity)
        gap = np.where(np.abs(md) <= tolerance(fed), 0.0, np.abs(md))
        return fitting(Points(gap, worth, _all(eps, fed.n_clients)), disparity)

    targets = np.linspace(path.segments.smallest, path.segments.largest, points)
    exact = fed.is_finite and not task.several and path.complete
    return build(task.scheme.name, evaluate(targets), evaluate, exact)


def _values(solved: Callable[[float], Solution], eps: Array) -> tuple[Array, Array]:
    """Differences and worths at budgets (P,), NaN where none is certified."""
    out = np.full((2, eps.size), np.nan)
    for k, budget in enumerate(eps):
        with suppress(CertificationError):
            solution = solved(float(budget))
            out[:, k] = solution.signed, 1.0 + solution.utility
    return out[0], out[1]


def _path(fed: Federation, task: Task, points: int, solved: Callable[[float], Solution]) -> Path:
    """The path at the budgets between which it is, or is taken to be, linear."""
    model, averaged, values = fed.model, task.scheme.is_averaged, partial(_values, solved)
    if not isinstance(model, FiniteModel):
        path = Path(values if averaged else BudgetPath.of(fed, task).signed)
        if averaged and task.plain:
            curve = EnsembleCurve(fed, model)
            path = Path(lambda eps: curve.at(curve.solved(_all(eps, fed.n_clients))))
        largest_disparity = float(np.nan_to_num(solved(1.0).local_disparities).max())
        path.add(np.append(np.linspace(0.0, min(largest_disparity, 1.0), max(points, EVEN)), 1.0))
        path.cross_zero()
        path.refine(HALVINGS)
        return path
    if averaged:  # it may jump just below a break
        segments = ClientSegments.of(fed, task)
        path = Path(values if task.several else segments.common)
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
        path, problem = Path(values), clients_problem(fed, task)

        def tangent(eps: float) -> tuple[float, float]:
            return solved(eps).utility, problem.slope(solved(eps).multipliers)

        most_breaks = max(EVEN, CELLS // problem.u.size)
        path.add(concave_breaks(tangent, most_breaks))
        path.halve_bends(BEND if task.several else FINITE_TOLERANCE, most_breaks)
    return path


class Path:
    """Pooled differences and worths at budgets, NaN if not certified, and if ``complete``."""

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
        """Halve intervals until the path is linear on each: the middle is on the chord, within
        ``slack``, as there the disparity is convex. What is no more useful than a fair rule does
        not count.
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
            sign = np.sign(self.md[k + 1])
            self.add(self.crossing(self.eps[k], self.eps[k + 1], sign, np.zeros(k.size), []))

    def refine(self, halvings: int) -> None:
        """Halve intervals beside undominated smallest disparities and largest utilities."""
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
        between them, or the next solution is missing, it may jump: the segment is its first end, as
        at the last budget.
        """
        is_solved, first = np.isfinite(self.md), np.arange(self.eps.size)
        last = np.minimum(first + 1, first[-1])
        jump = ~is_solved[last] | (self.eps[last] <= np.nextafter(self.eps[first], 1.0))
        ends = np.stack([first, np.where(jump, first, last)], axis=1)[is_solved[first]]
        md, worth, eps = self.md[ends], self.worth[ends], self.eps[ends, None]
        return Segments.folded(md, worth, eps, ends[:, 0]).undominated()

    def meeting(self, disparity: Array) -> Array:
        """Budgets, differences and worths (3, P), known or tried to meet the disparities."""
        tried = [np.stack([self.eps, self.md, self.worth])[:, np.isfinite(self.md)]]
        segment, place = self.segments.best(disparity)
        low, high = self.segments.ends[segment, :, 2].T
        md = self.difference(np.where(place == 1.0, high, low + place * (high - low)), tried)
        miss = (place > 0.0) & (place < 1.0) & (np.abs(np.abs(md) - disparity) > COMMON_MET)
        if miss.any():
            question = low[miss], high[miss], np.sign(md[miss]), disparity[miss]
            self.difference(self.crossing(*question, tried), tried)
        return np.hstack(tried)

    def difference(self, eps: Array, tried: list[Array]) -> Array:
        """Differences (P,) at budgets (P,), which join those ``tried``."""
        tried.append(np.stack([eps, *self.values(eps)]))
        return tried[-1][1]

    def crossing(
        self, low: Array, high: Array, sign: Array, disparity: Array, tried: list[Array]
    ) -> Array:
        """Budgets with sign·MD = disparity between ``low`` (P,), where it is less, and ``high``."""

        def excess(place: Array, index: Array) -> Array:
            eps = low[index] + place * (high - low)[index]
            return sign[index] * self.difference(eps, tried) - disparity[index]

        start, end, rows = np.zeros(low.size), np.ones(low.size), np.arange(low.size)
        ends = excess(start, rows), excess(end, rows)
        place = increasing_root(excess, start, end, *ends, COMMON_MET, NARROW)
        return low + place * (high - low)


def _peaks(values: Array) -> Array:
    """Where values (P,) are as large as at both neighbours, and larger than at one."""
    beside = (values[1:-1] - np.stack([values[:-2], values[2:]])) / LAW_TOLERANCE
    return 1 + np.flatnonzero((beside.min(axis=0) >= -1.0) & (beside.max(axis=0) > 1.0))


def _all(eps: Array, clients: int) -> Array:
    """(P, I) the same budgets (P,) for all clients."""
    return np.repeat(eps[:, None], clients, axis=1)
