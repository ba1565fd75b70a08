"""Newton's method in the multipliers λ and the ends of the accept sets together, for many problems
on densities at once.

A small gap between two cuts is like the root of a change of λ: in λ alone Newton's method converges
only where no gap changes by much of its width. The equations s(x_r) = 0 and the optimality
conditions are smooth in the cuts x_r and λ together, and no root has to be isolated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.dual import (
    Constraints,
    DualPoint,
    dual_point,
    kkt_residual,
    moving,
    weights,
    worth,
)

KKT_TOLERANCE = 2e-14
"""Newton stops when every optimality condition holds to this."""
REACH = 0.5
"""Largest change of a multiplier in one step: multipliers are of the order of clients' masses."""
FAR = 1e100
"""A longer step is that of a singular system."""
PIVOTS = 30
"""Times that the signs of a step's multipliers are corrected all at once."""
TOGETHER, PATIENCE = 25, 3
"""Steps, and after how many the residual must have halved."""
RIDGE = 1e-15
"""Ridge of the Hessian over its trace: a small gap makes that 1e12 times the least eigenvalue."""
NARROWEST, FARTHEST = 0.3, 0.03
"""The share of a gap's width that stays in one step; how far a cut may move, over the range."""
ROUNDED = 1e-14
"""What a rule with cuts of its own may lose of the Lagrangian's maximum at its multipliers."""


def settled(problem: Constraints, point: DualPoint, eps: Array) -> tuple[DualPoint, Array]:
    """Where Newton's method from B points at budgets eps (B, K) ends; and whether (B,) that is a
    better point.

    If another gap opens there, once more from there. A rounding of λ may change MD_k by 1e-9 where
    a gap is small: where the rule with the cuts found meets the conditions better than that of
    their λ, it is returned, its ``accuracy`` such that ``dual`` is still D(λ).
    """
    bound = point.lam != 0
    active = np.where(bound.any(axis=1, keepdims=True), bound, np.abs(point.values) > eps)
    counts = np.sum([sets.counts for sets in point.sets], axis=0)
    rows = np.flatnonzero(active.sum(axis=1) <= counts)  # else fewer equations than unknowns
    most, limit = 0.25 * kkt_residual(point.lam, point.values, eps), point.dual(eps) + 1e-13
    here, better = point.take(rows), np.zeros(len(eps), bool)
    for _ in range(2 if rows.size else 0):
        beside = _together(problem, here, eps[rows])
        exact = dual_point(problem, beside.lam)
        lost = exact.dual(eps[rows]) - beside.dual(eps[rows])
        off = [kkt_residual(p.lam, p.values, eps[rows]) for p in (exact, beside)]
        own = np.flatnonzero((off[1] < off[0]) & (lost <= ROUNDED))
        beside = replace(beside, accuracy=beside.accuracy + lost)
        found = exact.replaced(own, beside.take(own))
        good = kkt_residual(found.lam, found.values, eps[rows]) <= most[rows]
        good &= found.dual(eps[rows]) <= limit[rows]
        point = point.replaced(rows[good], found.take(np.flatnonzero(good)))
        better[rows[good]] = True
        pairs = zip(exact.sets, here.sets, strict=True)
        left = np.flatnonzero(~good & np.any([a.counts != b.counts for a, b in pairs], axis=0))
        rows, here = rows[left], exact.take(left)
        if not rows.size:
            break
    return point, better


@dataclass(frozen=True)
class _Cuts:
    """The cuts (B, C) of B rules, side by side, each column at one ``place`` (C,): ``sign`` (B, C)
    is 1 where s rises, -1 where it falls, 0 where there is no cut; ``moves`` (B, C) whether it is a
    root of s. ``first`` (B, P): whether the sets reach -inf.
    """

    problem: Constraints
    place: Array
    cut: Array
    sign: Array
    moves: Array
    first: Array

    @classmethod
    def of(cls, problem: Constraints, point: DualPoint) -> _Cuts:
        places = zip(problem.profiles, point.sets, problem.coefficients, strict=True)
        own = [moving(f, sets, weights(point.lam, rows)) for f, sets, rows in places]
        place = np.repeat(np.arange(len(own)), [moves.shape[1] for moves in own])
        cut, sign = (np.hstack([getattr(s, name) for s in point.sets]) for name in ("cut", "sign"))
        first = np.stack([sets.first for sets in point.sets], axis=1)
        return cls(problem, place, cut, sign, np.hstack(own), first)

    def take(self, rows: Array) -> _Cuts:
        own = {name: getattr(self, name)[rows] for name in ("cut", "sign", "moves", "first")}
        return replace(self, **own)

    def known(self) -> tuple[Array, list[Array]]:
        """Values and slopes of the gain and the constraints (2, B, 1 + K, C), and the functions'
        integrals (B, J_p) at each place.
        """
        table = np.empty((2, len(self.cut), 1 + self.problem.count, self.cut.shape[1]))
        integrals = []
        places = zip(self.problem.profiles, self.problem.coefficients, strict=True)
        for p, (profile, rows) in enumerate(places):
            part = self.place == p
            own = self.cut[:, part]
            shape = 3, len(profile.coefficients), *own.shape
            above, *both = profile.at(own.ravel()).reshape(shape)
            for terms, out in zip(both, table, strict=True):
                out[:, 0, part] = terms[0]
                out[:, 1:, part] = np.tensordot(rows, terms[1:], 1).swapaxes(0, 1)
            whole = np.where(self.first[:, p, None], profile.totals, 0.0)
            integrals.append(whole + np.einsum("jbc,bc->bj", above, self.sign[:, part]))
        return table, integrals

    def room(self, shift: Array) -> Array:
        """(B,) the part of shifts (B, C) that keeps the cuts apart and close by (NARROWEST)."""
        beside = (self.sign[:, 1:] != 0) & (np.diff(self.place) == 0)
        length = np.array([np.ptp(f.edges) for f in self.problem.profiles])[self.place]
        moved = np.concatenate([np.where(beside, -np.diff(shift), 0.0), np.abs(shift)], axis=1)
        gaps = np.where(beside, (1.0 - NARROWEST) * np.diff(self.cut), 1.0)
        wide = np.concatenate([gaps, np.tile(FARTHEST * length, (len(gaps), 1))], axis=1)
        return (wide / np.maximum(np.maximum(moved, wide), 1e-300)).min(axis=1, initial=1.0)


def _together(problem: Constraints, point: DualPoint, eps: Array) -> DualPoint:
    """Where the steps from B points at budgets eps (B, K) end, with cuts of their own."""
    lam, accuracy, values = point.lam.copy(), point.accuracy.copy(), point.values.copy()
    now = start = _Cuts.of(problem, point)
    ends, integrals = now.cut.copy(), [sets.integrals.copy() for sets in point.sets]
    rows, past = np.arange(len(lam)), np.empty((len(lam), 0))
    table = now.known()[0]
    for _ in range(TOGETHER):
        here, budget, v = lam[rows], eps[rows], table[0, :, 1:]
        height, slope = table[:, :, 0] + (here[:, None] @ table[:, :, 1:])[:, :, 0]
        height, slope = height * now.moves, np.abs(slope)
        inverse = np.divide(now.moves, slope, out=np.zeros_like(slope), where=slope > 1e-300)
        flow = v * inverse[:, None]
        gradient = values[rows] + (flow @ height[:, :, None])[:, :, 0]
        h = flow @ v.swapaxes(1, 2)
        wrong = kkt_residual(here, values[rows], budget)
        wrong = np.maximum(wrong, np.abs(height).max(axis=1, initial=0.0))
        past = np.column_stack([past, wrong])
        least = past[:, :-PATIENCE].min(axis=1, initial=np.inf)
        ridge = RIDGE * np.maximum(np.trace(h, axis1=1, axis2=2), 1e-6)
        step = pivoted(h + ridge[:, None, None] * np.eye(problem.count), gradient, here, budget)
        go = (wrong > KKT_TOLERANCE) & (wrong <= 0.5 * least) & np.isfinite(step).all(axis=1)
        if not go.any():
            break
        shift = (-now.sign * (inverse * height + (step[:, None] @ flow)[:, 0]))[go]
        rows, past, step, now = rows[go], past[go], step[go], now.take(go)
        part = REACH / np.abs(step).max(axis=1, initial=1e-300)
        part = np.minimum(part, now.room(shift))[:, None]
        lam[rows] += part * step
        now = replace(now, cut=now.cut + part * shift)
        table, found = now.known()
        ends[rows] = now.cut
        for own, new in zip(integrals, found, strict=True):
            own[rows] = new
        accuracy[rows], values[rows] = worth(problem, found, lam[rows])
    sets = [
        replace(old, cut=ends[:, start.place == p], integrals=new)
        for p, (old, new) in enumerate(zip(point.sets, integrals, strict=True))
    ]
    return DualPoint(lam, tuple(sets), accuracy, values)


def pivoted(h: Array, g: Array, lam: Array, eps: Array) -> Array:
    """(B, K) the steps d to the minima of g·d + ½ d·h d + Σ eps |λ + d|, however far; NaN where
    pivots go in circles.

    Given the signs of λ + d, the minimum is the solution of a linear system. What has the wrong
    sign becomes zero, and what wants to leave zero does.
    """
    steps, signs, rows = np.full(lam.shape, np.nan), np.sign(lam), np.arange(len(lam))
    for _ in range(PIVOTS):
        own = h[rows], g[rows], lam[rows]
        step = stationary(*own, signs, eps[rows])
        slope = (own[0] @ step[:, :, None])[:, :, 0] + own[1]
        wrong = signs * (own[2] + step) < 0
        leaving = (signs == 0) & (np.abs(slope) > eps[rows] + 1e-13)
        near = np.abs(step).max(axis=1, initial=0.0) <= FAR  # else constraints depend on each other
        off = (wrong | leaving).any(axis=1)
        steps[rows[near & ~off]] = step[near & ~off]
        go = near & off
        signs = np.where(wrong, 0.0, np.where(leaving, -np.sign(slope), signs))[go]
        rows = rows[go]
        if not rows.size:
            break
    return steps


def stationary(h: Array, g: Array, lam: Array, signs: Array, eps: Array) -> Array:
    """(B, K) the steps d to where g·d + ½ d·h d + Σ eps · signs · (λ + d) is stationary in the
    λ_k + d_k with a sign; the others become 0.
    """
    free = signs != 0
    away = np.where(free, 0.0, -lam)
    right = -g - signs * np.where(free, eps, 0.0) - (h @ away[:, :, None])[:, :, 0]
    both = free[:, :, None] & free[:, None]
    whole = np.where(both, h, 0.0) + ~free[:, :, None] * np.eye(lam.shape[1])
    return np.linalg.solve(whole, np.where(free, right, away)[:, :, None])[:, :, 0]
