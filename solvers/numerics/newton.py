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
from fairfl.solvers.tolerances import CUTS_LOSE, KKT_TOLERANCE

REACH = 0.5
"""Largest change of a multiplier in one step: multipliers are of the order of clients' masses."""
FAR = 1e100  # a longer step is that of a singular system
PIVOTS = 30  # times that the signs of a step's multipliers are corrected all at once
TOGETHER, PATIENCE = 25, 3  # Steps, and after how many the residual must have halved
RIDGE = 1e-15
"""Ridge of the Hessian over its trace: a small gap makes that 1e12 times the least eigenvalue."""
NARROWEST, FARTHEST = 0.3, 0.03
"""The share of a gap's width that stays in one step; how far a cut may move, over the range."""


def settled(problem: Constraints, point: DualPoint, eps: Array) -> tuple[DualPoint, Array]:
    """Where Newton's method from B points at budgets eps (B, K) ends, and which (B,) are better
    points.

    If another gap opens there, once more. A rounding of λ may change MD_k by 1e-9 where a gap is
    small: where the rule with the cuts found meets the conditions better than that of their λ, it
    is returned, its ``accuracy`` such that ``dual`` is still D(λ).
    """
    bound = point.lam != 0
    active = np.where(bound.any(axis=1, keepdims=True), bound, np.abs(point.values) > eps)
    counts = np.sum([sets.counts for sets in point.sets], axis=0)
    rows = np.flatnonzero(active.sum(axis=1) <= counts)  # else fewer equations than unknowns
    residual_limit = 0.25 * kkt_residual(point.lam, point.values, eps)
    limit = point.dual(eps) + 1e-13
    start, better = point.take(rows), np.zeros(len(eps), bool)
    for _ in range(2 if rows.size else 0):
        stepped = _together(problem, start, eps[rows])
        exact = dual_point(problem, stepped.lam)
        shortfall = exact.dual(eps[rows]) - stepped.dual(eps[rows])
        residuals = [kkt_residual(p.lam, p.values, eps[rows]) for p in (exact, stepped)]
        better_rows = np.flatnonzero((residuals[1] < residuals[0]) & (shortfall <= CUTS_LOSE))
        stepped = replace(stepped, accuracy=stepped.accuracy + shortfall)
        candidate = exact.replaced(better_rows, stepped.take(better_rows))
        is_good = kkt_residual(candidate.lam, candidate.values, eps[rows]) <= residual_limit[rows]
        is_good &= candidate.dual(eps[rows]) <= limit[rows]
        point = point.replaced(rows[is_good], candidate.take(np.flatnonzero(is_good)))
        better[rows[is_good]] = True
        pairs = zip(exact.sets, start.sets, strict=True)
        left = np.flatnonzero(~is_good & np.any([a.counts != b.counts for a, b in pairs], axis=0))
        rows, start = rows[left], exact.take(left)
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
        is_moving = [moving(f, sets, weights(point.lam, rows)) for f, sets, rows in places]
        place = np.repeat(np.arange(len(is_moving)), [moves.shape[1] for moves in is_moving])
        cut, sign = (np.hstack([getattr(s, name) for s in point.sets]) for name in ("cut", "sign"))
        first = np.stack([sets.first for sets in point.sets], axis=1)
        return cls(problem, place, cut, sign, np.hstack(is_moving), first)

    def take(self, rows: Array) -> _Cuts:
        fields = {name: getattr(self, name)[rows] for name in ("cut", "sign", "moves", "first")}
        return replace(self, **fields)

    def table(self) -> tuple[Array, list[Array]]:
        """Values and slopes of gain and constraints (2, B, 1 + K, C), and integrals by place."""
        table = np.empty((2, len(self.cut), 1 + self.problem.count, self.cut.shape[1]))
        integrals = []
        places = zip(self.problem.profiles, self.problem.coefficients, strict=True)
        for p, (profile, rows) in enumerate(places):
            part = self.place == p
            cut = self.cut[:, part]
            shape = 3, len(profile.coefficients), *cut.shape
            above, *both = profile.at(cut.ravel()).reshape(shape)
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
    """Where the steps from B points at budgets eps (B, K) end, with cuts of their own. At the cuts
    ``height`` is s, ``slope`` |s'| and ``flow`` v/|s'|; eliminating the cuts leaves a system in λ
    alone.
    """
    lam, accuracy, values = point.lam.copy(), point.accuracy.copy(), point.values.copy()
    cuts = first_cuts = _Cuts.of(problem, point)
    latest_cuts, integrals = cuts.cut.copy(), [sets.integrals.copy() for sets in point.sets]
    rows, residuals = np.arange(len(lam)), np.empty((len(lam), 0))
    table = cuts.table()[0]
    for _ in range(TOGETHER):
        multipliers, budget, v = lam[rows], eps[rows], table[0, :, 1:]
        height, slope = table[:, :, 0] + (multipliers[:, None] @ table[:, :, 1:])[:, :, 0]
        height, slope = height * cuts.moves, np.abs(slope)
        inverse = np.divide(cuts.moves, slope, out=np.zeros_like(slope), where=slope > 1e-300)
        flow = v * inverse[:, None]
        gradient = values[rows] + (flow @ height[:, :, None])[:, :, 0]
        hessian = flow @ v.swapaxes(1, 2)
        residual = kkt_residual(multipliers, values[rows], budget)
        residual = np.maximum(residual, np.abs(height).max(axis=1, initial=0.0))
        residuals = np.column_stack([residuals, residual])
        earlier_residual = residuals[:, :-PATIENCE].min(axis=1, initial=np.inf)
        ridge = RIDGE * np.maximum(np.trace(hessian, axis1=1, axis2=2), 1e-6)
        hessian += ridge[:, None, None] * np.eye(problem.count)
        step = pivoted(hessian, gradient, multipliers, budget)
        continues = (residual > KKT_TOLERANCE) & (residual <= 0.5 * earlier_residual)
        continues &= np.isfinite(step).all(axis=1)
        if not continues.any():
            break
        shift = (-cuts.sign * (inverse * height + (step[:, None] @ flow)[:, 0]))[continues]
        rows, residuals = rows[continues], residuals[continues]
        step, cuts = step[continues], cuts.take(continues)
        step_length = REACH / np.abs(step).max(axis=1, initial=1e-300)
        step_length = np.minimum(step_length, cuts.room(shift))[:, None]
        lam[rows] += step_length * step
        cuts = replace(cuts, cut=cuts.cut + step_length * shift)
        table, totals = cuts.table()
        latest_cuts[rows] = cuts.cut
        for stored_integrals, latest in zip(integrals, totals, strict=True):
            stored_integrals[rows] = latest
        accuracy[rows], values[rows] = worth(problem, totals, lam[rows])
    sets = [
        replace(old, cut=latest_cuts[:, first_cuts.place == p], integrals=latest)
        for p, (old, latest) in enumerate(zip(point.sets, integrals, strict=True))
    ]
    return DualPoint(lam, tuple(sets), accuracy, values)


def pivoted(h: Array, g: Array, lam: Array, eps: Array) -> Array:
    """(B, K) the steps d to the minima of g·d + ½ d·h d + Σ eps |λ + d|, by the signs of λ + d; NaN
    where pivots go in circles.
    """
    steps, signs, rows = np.full(lam.shape, np.nan), np.sign(lam), np.arange(len(lam))
    for _ in range(PIVOTS):
        model = h[rows], g[rows], lam[rows]
        step = stationary(*model, signs, eps[rows])
        slope = (model[0] @ step[:, :, None])[:, :, 0] + model[1]
        has_wrong_sign = signs * (model[2] + step) < 0
        leaving = (signs == 0) & (np.abs(slope) > eps[rows] + 1e-13)
        # else constraints depend on each other
        is_near = np.abs(step).max(axis=1, initial=0.0) <= FAR
        changes = (has_wrong_sign | leaving).any(axis=1)
        steps[rows[is_near & ~changes]] = step[is_near & ~changes]
        continues = is_near & changes
        signs = np.where(has_wrong_sign, 0.0, np.where(leaving, -np.sign(slope), signs))[continues]
        rows = rows[continues]
        if not rows.size:
            break
    return steps


def stationary(h: Array, g: Array, lam: Array, signs: Array, eps: Array) -> Array:
    """(B, K) the steps d to where g·d + ½ d·h d + Σ eps · signs · (λ + d) is stationary; λ_k + d_k
    without a sign become 0.
    """
    free = signs != 0
    away = np.where(free, 0.0, -lam)
    right = -g - signs * np.where(free, eps, 0.0) - (h @ away[:, :, None])[:, :, 0]
    both = free[:, :, None] & free[:, None]
    whole = np.where(both, h, 0.0) + ~free[:, :, None] * np.eye(lam.shape[1])
    return np.linalg.solve(whole, np.where(free, right, away)[:, :, None])[:, :, 0]
