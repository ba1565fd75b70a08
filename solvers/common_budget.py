"""The frontier of local training at one budget for all clients: the non-dominated points of the
path eps -> solution, 0 <= eps <= 1.

On a finite X the path is piecewise linear where two groups have one rate. LFT+Ensemble's breaks
where a client's own path does. LFT+FedAvg's utility is concave in eps with slope Σ|λ|: its breaks
are where tangents meet (Eisner and Severance, 1976), and where the pooled difference still bends
between these the interval is halved. On laws the path is solved at even budgets, and again beside
each smallest disparity and largest utility. Between two of these budgets a disparity is met by a
root of the path. An ensemble of more groups or rates on a finite X may jump in many places: of it
the solutions at breaks and at even budgets are the points.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities import solve_by_dual
from fairfl.solvers.finite import solve_box
from fairfl.solvers.frontier import Frontier, Points, build
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.solvers.numerics.segments import Segments
from fairfl.solvers.problem import Problem, Task, clients_problem, own_problems
from fairfl.solvers.rule_family import RuleFamily, certify_rules
from fairfl.solvers.solution import (
    FINITE_TOLERANCE,
    LAW_TOLERANCE,
    CertificationError,
    Solution,
    rates_of,
    tolerance,
)
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel

EVEN = 64
"""Even budgets, at least: a disparity that falls and rises between two of them is not seen."""
HALVINGS = 25
"""Of the intervals beside an extremum, or a break."""
BEND = 1e-6
"""Of several differences the largest may miss its chord by this: each bend takes 10 solutions then,
and 40 to rounding.
"""
BESIDE = 1e-10
"""So far below a break of linear programmes their solutions are those of smaller budgets: there a
rule may jump.
"""
MET = 1e-13
"""Disparities are met to this."""

Values = Callable[[Array], tuple[Array, Array]]
"""Of budgets (P,): the pooled difference of two groups with one rate, else the disparity, and 1 +
the utility.
"""
Solve = Callable[[Array], Solution]
"""The certified solution at budgets (I,)."""


def common_frontier(fed: Federation, task: Task, points: int, solve: Solve) -> Frontier:
    """The frontier of LFT+FedAvg or LFT+Ensemble at one budget for all clients."""
    path = _path(fed, task, points, solve)

    def evaluate(disparity: Array) -> Points:
        eps, md, worth = path.meet(disparity)
        apart = np.where(np.abs(md) <= tolerance(fed), 0.0, np.abs(md))
        return Points(apart, worth, _all(eps, fed.n_clients))

    wanted = np.linspace(path.segments.smallest, path.segments.largest, points)
    return build(task.scheme, evaluate(wanted), evaluate, fed.is_finite and not task.several)


def _path(fed: Federation, task: Task, points: int, solve: Solve) -> Path:
    """The path at the budgets between which it is, or is taken to be, linear."""
    model, clients, averaged = fed.model, fed.n_clients, task.scheme == "lft_ensemble"
    solved = Solved(fed, task, solve)
    if isinstance(model, FiniteModel):
        if averaged:
            breaks = _own_breaks(fed, task)
            if task.several:
                some = np.linspace(0, breaks.size - 1, EVEN).round().astype(int)
                breaks = breaks[np.unique(some)]
                below, even = np.maximum(breaks - BESIDE, 0.0), np.linspace(0.0, 1.0, EVEN)
                path = Path(solved, between=False)
                path.add(np.concatenate([breaks, below, even]))
                return path
            path = Path(solved)
            path.add(np.append(breaks, np.nextafter(breaks[1:], 0.0)))
        else:
            path = Path(solved)
            path.add(_breaks(clients_problem(fed, task)))
            path.halve_bends(BEND if task.several else FINITE_TOLERANCE)
        path.cross_zero()
        return path
    if not averaged:
        path = Path(Followed(fed, task, solved))
    elif task.plain:
        curve = EnsembleCurve(fed, model)
        path = Path(lambda eps: curve.solved(_all(eps, clients)))
    else:
        path = Path(solved)
    top = float(np.nan_to_num(solved.at(1.0).local_disparities).max())
    path.add(np.append(np.linspace(0.0, min(top, 1.0), max(points, EVEN)), 1.0))
    path.cross_zero()
    path.refine()
    return path


class Path:
    """The pooled differences and worths at budgets ``eps``, increasing; whether a disparity is met
    ``between`` two of them, or the less disparate one is taken.
    """

    def __init__(self, values: Values, between: bool = True) -> None:
        self.values, self.between = values, between
        self.eps, self.md, self.worth = (np.zeros(0) for _ in range(3))

    def add(self, eps: Array) -> None:
        """The path at more budgets, where it is certified."""
        new = np.setdiff1d(eps, self.eps)
        if not new.size:
            return
        own = np.stack([new, *self.values(new)])
        every = np.hstack([[self.eps, self.md, self.worth], own[:, np.isfinite(own).all(axis=0)]])
        self.eps, self.md, self.worth = every[:, np.argsort(every[0])]

    def halve_bends(self, slack: float) -> None:
        """Halve intervals until the path is linear on each: it is on those whose middle is on the
        chord, within ``slack``, since there the disparity is convex.
        """
        low, high = self.eps[:-1], self.eps[1:]
        for _ in range(HALVINGS):
            if not low.size:
                break
            middle = (low + high) / 2
            self.add(middle)
            k, a, b = (np.searchsorted(self.eps, end) for end in (middle, low, high))
            bent = np.abs(self.md[k] - (self.md[a] + self.md[b]) / 2) > slack
            low, high = (
                np.concatenate([low[bent], middle[bent]]),
                np.concatenate([middle[bent], high[bent]]),
            )

    def cross_zero(self) -> None:
        """The budgets at which the difference changes its sign."""
        k = np.flatnonzero(self.md[:-1] * self.md[1:] < 0)
        if k.size:
            ends = self.eps[k], self.eps[k + 1]
            self.add(self._root(*ends, np.sign(self.md[k + 1]), np.zeros(k.size)))

    def refine(self) -> None:
        """Halve the intervals beside each smallest disparity and each largest utility."""
        for _ in range(HALVINGS):
            d = np.abs(self.md)
            k = np.append(_peaks(-d), _peaks(self.worth))
            if not k.size:
                break
            ends = np.concatenate([self.eps[k - 1], self.eps[k + 1]])
            self.add((ends + np.tile(self.eps[k], 2)) / 2)

    @cached_property
    def segments(self) -> Segments:
        """Between the budgets, as if the path were linear there; when they are all known."""
        ends = np.stack([np.arange(self.eps.size - 1), np.arange(1, self.eps.size)], axis=1)
        md, worth, eps = self.md[ends], self.worth[ends], self.eps[ends, None]
        return Segments.folded(md, worth, eps, ends[:, 0]).undominated()

    def meet(self, disparity: Array) -> tuple[Array, Array, Array]:
        """Budgets, differences and worths (P,) of the best solutions with at most the disparities
        (P,).
        """
        _, segment, place = self.segments.best(disparity)
        low, high = self.segments.other[segment, :, 0].T
        if not self.between:
            place = np.floor(place)
        eps = np.where(place == 1.0, high, low + place * (high - low))
        md, worth = self.values(eps)
        inner = (place > 0.0) & (place < 1.0)
        off = np.flatnonzero(inner & (np.abs(np.abs(md) - disparity) > MET))
        if off.size:
            sign = np.sign(md[off])
            eps[off] = self._root(low[off], high[off], sign, disparity[off])
            md[off], worth[off] = self.values(eps[off])
        return eps, md, worth

    def _root(self, low: Array, high: Array, sign: Array, disparity: Array) -> Array:
        """Budgets (P,) with sign·MD = disparity between those of less, ``low``, and of more."""

        def rising(place: Array, index: Array) -> Array:
            eps = low[index] + place * (high - low)[index]
            return sign[index] * self.values(eps)[0] - disparity[index]

        zero, one, every = np.zeros(low.size), np.ones(low.size), np.arange(low.size)
        ends = np.minimum(rising(zero, every), 0.0), np.maximum(rising(one, every), 0.0)
        return low + increasing_root(rising, zero, one, *ends, MET) * (high - low)


class Solved:
    """The path by one certified solution at a time, each kept."""

    def __init__(self, fed: Federation, task: Task, solve: Solve) -> None:
        self.fed, self.task, self.solve = fed, task, solve
        self.known: dict[float, Solution] = {}

    def at(self, eps: float) -> Solution:
        """The solution at one budget."""
        if eps not in self.known:
            self.known[eps] = self.solve(np.full(self.fed.n_clients, eps))
        return self.known[eps]

    def __call__(self, eps: Array) -> tuple[Array, Array]:
        out = np.full((2, eps.size), np.nan)
        for k, budget in enumerate(eps):
            with suppress(CertificationError):
                found = self.at(float(budget))
                out[:, k] = self.signed(found), 1.0 + found.utility
        return out[0], out[1]

    def signed(self, found: Solution) -> float:
        """The disparity, with the sign of the difference of two groups with one rate."""
        if self.task.several:
            return found.disparity
        rates = rates_of(self.fed, self.task.notion, found.classifier)[1][0]
        return float(np.copysign(found.disparity, rates[0] - rates[1]))


class Followed:
    """LFT+FedAvg's path on densities: from known rules by Newton's method, all budgets together,
    certified; what is not is solved.
    """

    def __init__(self, fed: Federation, task: Task, solved: Solved) -> None:
        self.fed, self.task, self.solved = fed, task, solved
        self.family, self.unit = RuleFamily.of(fed, task), float(task.costs.max())
        self.eps, self.rules = np.ones(1), self.family.at(np.zeros((1, self.family.problem.count)))

    def __call__(self, eps: Array) -> tuple[Array, Array]:
        near = self.rules.take(np.abs(eps[:, None] - self.eps).argmin(axis=1))
        found, met = self.family.follow(near, _all(eps, self.fed.n_clients))
        md, worth, sure = certify_rules(self.fed, self.task, self.family, found)
        md = md if self.task.several else np.copysign(md, found.md)
        worth = 1.0 + self.unit * (worth - 1.0)
        for k in np.flatnonzero(~(met & sure)):
            s = solve_by_dual(
                self.fed,
                self.task,
                np.full(self.fed.n_clients, eps[k]),
                start=near.lam[k] * self.unit,
            )
            md[k], worth[k] = self.solved.signed(s), 1.0 + s.utility
            own = self.family.at(s.multipliers[None] / self.unit)
            found = found.replaced(np.array([k]), own)
        self.eps, self.rules = np.append(self.eps, eps), self.rules.join(found)
        return md, worth


def _all(eps: Array, clients: int) -> Array:
    """(P, I) the same budgets (P,) for all clients."""
    return np.repeat(eps[:, None], clients, axis=1)


def _peaks(values: Array) -> Array:
    """Where values (P,) are as large as at both neighbours, and larger than at one."""
    beside = (values[1:-1] - np.stack([values[:-2], values[2:]])) / LAW_TOLERANCE
    return 1 + np.flatnonzero((beside.min(axis=0) >= -1.0) & (beside.max(axis=0) > 1.0))


def _own_breaks(fed: Federation, task: Task) -> Array:
    """0, 1, and the budgets at which a client's path breaks."""
    own = [
        _breaks(problem) if problem.path is None else problem.path.gap
        for problem in own_problems(fed, task)
    ]
    return np.unique(np.clip(np.concatenate([[0.0, 1.0], *own]), 0.0, 1.0))


def _breaks(problem: Problem) -> Array:
    """Budgets in [0, 1] between which the utility is linear: where tangents meet, and some more."""
    unit = np.where(np.isfinite(problem.eps), problem.eps, 0.0)

    def tangent(eps: float) -> tuple[float, float, float]:
        found = solve_box(problem.at(np.full(problem.owner.max() + 1, eps)))
        return eps, float(problem.u @ found.f), float(unit @ np.abs(found.multipliers))

    found, todo = [0.0, 1.0], [(tangent(0.0), tangent(1.0))]
    while todo:
        (a, low, rise), (b, high, end) = left, right = todo.pop()
        eps = (high - low + rise * a - end * b) / (rise - end) if rise > end else b
        if not a + FINITE_TOLERANCE < eps < b - FINITE_TOLERANCE:
            continue
        found.append(eps)
        middle = tangent(eps)
        if low + rise * (eps - a) - middle[1] > FINITE_TOLERANCE:
            todo += [(left, middle), (middle, right)]
    return np.sort(found)
