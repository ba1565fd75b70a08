"""The dual function of λ on densities minimised: by Newton's method in cuts and multipliers
together, else by a proximal Newton method in λ.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics import cells
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point, hessian, kkt_residual
from fairfl.solvers.numerics.newton import (
    KKT_TOLERANCE,
    REACH,
    pivoted,
    same_cuts,
    settled,
    stationary,
)

ENOUGH = 1e-11
"""Below this a step that does not shrink the residual fourfold ends the descent: rounding has the
last word.
"""
MAX_ITERATIONS = 80
DAMPING = 1e-2
"""Ridge of the Hessian over its mean diagonal element, for each unit of the residual: where cuts
are fewer than constraints, steps run to the ends of their box without it.
"""
FEW = 8
"""Constraints up to which no step is damped: the exact ones settle gaps that are about to open."""
SWEEPS, BLOCKS = 10, 50
"""Rounds of coordinate descent between two tries of the signs that it found, and how often."""


def minimise_dual(
    problem: Constraints, eps: Array, start: Array | None = None, enough: float = KKT_TOLERANCE
) -> DualPoint:
    """Minimise D for one budget vector eps (K,), from the programme on cells.

    Where a gap in an accept set is about to open, D's Hessian jumps to infinity: full steps in λ
    alone overshoot, and backtracking creeps. Steps in λ and the cuts together do not; where they
    fail, many lengths of a step in λ are tried in one batch, twice, and the best is taken.
    """
    return descend(problem, eps, start, enough)[-1]


def descend(
    problem: Constraints, eps: Array, start: Array | None = None, enough: float = KKT_TOLERANCE
) -> list[DualPoint]:
    """The points that :func:`minimise_dual` visits, the best last."""
    budget = eps.reshape(1, -1)
    lam = cells.multipliers(problem, eps) if start is None else start
    visited = [dual_point(problem, lam[None])]
    for k in range(MAX_ITERATIONS):
        here, moved = visited[-1], None
        if kkt_residual(here.lam, here.values, budget)[0] <= enough:
            break
        if k < 2 or same_cuts(visited[-2], here)[0]:
            found, better = settled(problem, here, budget)
            moved = found if better[0] else None
        moved = moved or _step(problem, here, budget)
        if moved is None:
            break
        visited.append(moved)
    return visited


def _ridged(h: Array, residual: float) -> Array:
    """h is singular where cuts are fewer than constraints, or constraints redundant (twin clients),
    and tiny in flat regions: a little of the identity; for many constraints more of it, which
    vanishes with the residual.
    """
    trace = max(float(np.trace(h)), 1e-6)
    damping = DAMPING * residual / len(h) if len(h) > FEW else 0.0
    return h + trace * max(1e-12, damping) * np.eye(len(h))


def _quadratic_step(h: Array, g: Array, lam: Array, budget: Array) -> Array:
    """The step to the minimum of g·d + ½ d·h d + Σ eps |λ + d|, within REACH.

    Where pivots go in circles, or beyond REACH for few constraints, coordinate descent finds the
    signs.
    """
    one = h[None], g[None], lam[None]
    step = pivoted(*one, budget[None])[0]
    far = float(np.abs(step).max())
    if far < REACH or (np.isfinite(far) and len(h) > FEW):
        return step * min(1.0, REACH / max(far, 1e-300))
    linear, z = g - h @ lam, lam.copy()
    for _ in range(BLOCKS):
        largest = _sweep(h, linear, budget, lam, z)
        step = stationary(*one, np.sign(z)[None], budget[None])[0]
        same = (np.sign(lam + step) == np.sign(z)).all() and (np.abs(step) < REACH).all()
        slack = np.abs(h @ step + g) <= budget + 1e-13
        settled = largest <= 1e-10 * max(1.0, float(np.abs(z).max()))
        if same and (settled or slack[z == 0].all()):
            return step
        if settled:
            break
    return z - lam


def _sweep(h: Array, linear: Array, budget: Array, start: Array, z: Array) -> float:
    """SWEEPS rounds of coordinate descent on ½ z·h z + linear·z + Σ budget |z|, within REACH of
    ``start``, in place.

    Returns the largest change in the last round.
    """
    slope, diagonal, largest = h @ z + linear, np.diag(h), 0.0
    for _ in range(SWEEPS):
        largest = 0.0
        for k in range(z.size):
            middle = z[k] * diagonal[k] - slope[k]
            new = (
                0.0
                if abs(middle) <= budget[k]
                else (middle - np.copysign(budget[k], middle)) / diagonal[k]
            )
            new = min(max(new, start[k] - REACH), start[k] + REACH)
            change = new - z[k]
            if change != 0.0:
                slope += change * h[:, k]
                z[k] = new
                largest = max(largest, abs(change))
    return largest


def _step(problem: Constraints, point: DualPoint, eps: Array) -> DualPoint | None:
    """The next point, or None when no progress can be measured."""
    residual, value = kkt_residual(point.lam, point.values, eps)[0], point.dual(eps)[0]
    h = _ridged(hessian(problem, point)[0], residual)
    for _ in range(6):
        direction = _quadratic_step(h, point.values[0], point.lam[0], eps[0])
        if not direction.any():
            return None
        newton = dual_point(problem, point.lam + direction)
        better = kkt_residual(newton.lam, newton.values, eps)[0] <= 0.25 * residual
        if better and newton.dual(eps)[0] <= value + 1e-13:
            return newton
        if residual <= ENOUGH:
            return None
        best, beyond = _line_search(problem, point, direction, eps)
        gained = value - best.dual(eps)[0]
        # next to the optimum D is flat to rounding: the optimality conditions tell better
        if gained > 1e-15 or (
            gained > -1e-13 and kkt_residual(best.lam, best.values, eps)[0] < 0.9 * residual
        ):
            return best
        if beyond is None:
            return None
        # the step runs into a part of the dual that is far more curved than here: plan with that
        # curvature
        h = _ridged(hessian(problem, beyond)[0], residual)
    return None


def _line_search(
    problem: Constraints, point: DualPoint, direction: Array, eps: Array
) -> tuple[DualPoint, DualPoint | None]:
    """Point on the segment where D's slope is nearly zero, and the nearest point seen beyond it.

    D is convex, so the signs of its slopes bracket the minimum.
    """

    def slopes(p: DualPoint) -> Array:
        side = np.where(p.lam != 0, np.sign(p.lam), np.sign(direction))
        return (direction * (p.values + side * np.where(direction != 0, eps, 0.0))).sum(axis=1)

    start = abs(float(slopes(point)[0]))
    sizes = np.array([1e-6, 1e-4, 1e-3, 5e-3, 0.02, 0.05, 0.12, 0.25, 0.45, 0.7, 1.0])
    low, best, beyond = 0.0, point, None
    for _ in range(16):
        lam = point.lam + sizes[:, None] * direction
        lam[sizes == 1.0] = point.lam + direction  # exact zeros stay zero
        tried = dual_point(problem, lam)
        best = _better(best, tried, eps)
        slope = slopes(tried)
        above = np.flatnonzero(slope > 0)
        if above.size == 0:
            break
        k = above[0]
        beyond = tried.take(np.array([k]))
        if slope[k] <= 0.3 * start and tried.dual(eps)[k] <= point.dual(eps)[0]:
            # stop on the far side of the minimum: if a gap opens there, the next Hessian must
            # include it
            return beyond, beyond
        high = sizes[k]
        low = sizes[k - 1] if k > 0 else low
        if high - low <= 1e-15:
            break
        sizes = np.linspace(low, high, 10)[1:-1] if low > 0 else high * np.geomspace(1e-4, 0.9, 8)
    return best, beyond


def _better(best: DualPoint, tried: DualPoint, eps: Array) -> DualPoint:
    """The best of a batch and of ``best``: smaller D, and where D is flat to rounding the smaller
    KKT residual.
    """
    d = tried.dual(eps)
    level = min(float(d.min()), float(best.dual(eps)[0]))
    residual = np.where(d <= level + 1e-14, kkt_residual(tried.lam, tried.values, eps), np.inf)
    k = int(residual.argmin())
    own = (
        kkt_residual(best.lam, best.values, eps)[0]
        if best.dual(eps)[0] <= level + 1e-14
        else np.inf
    )
    return best if own <= residual[k] else tried.take(np.array([k]))
