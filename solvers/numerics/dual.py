"""Linear fairness constraints on densities: the dual function of λ, minimised by Newton's method in
λ and the ends of the accept sets together, else by a proximal Newton method in λ.

Maximise base + ∫ u f over all f subject to |∫ f v_k + b_k| <= eps_k. The rule has *places*, lines
that it decides about apart: a group, both groups for a blind rule, a client's own. On place p, v_k
is Σ_j C_p[k, j] F_j:

    D(λ) = base + Σ_p ∫ (u_p + Σ_k λ_k v_k,p)_+ dx + λ·b + Σ_k eps_k |λ_k|

is convex, bounds the worth of every feasible f from above, and at its minimum f = ⟦u + λ·v > 0⟧
attains it. Its gradient is MD_k(f) + eps_k sign(λ_k), where MD_k is the k-th difference of rates;
its Hessian lives on the ends of the accept sets.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics import cells
from fairfl.solvers.numerics.accept_sets import AcceptSets, accept_sets
from fairfl.solvers.solution import budget_term
from fairfl.theory.numerics.piecewise import Piecewise

KKT_TOLERANCE = 2e-14
"""Newton stops when every optimality condition holds to this."""
ENOUGH = 1e-11
"""Below this a step that does not shrink the residual fourfold ends the descent: rounding has the
last word.
"""
MAX_ITERATIONS = 80
REACH = 0.5
"""Largest change of a multiplier in one step: multipliers are accuracy per rate, of the order of
clients' masses.
"""
DAMPING = 1e-2
"""Ridge of the Hessian over its mean diagonal element, for each unit of the residual: where cuts
are fewer than constraints, steps run to the ends of their box without it.
"""
FEW = 8
"""Constraints up to which no step is damped: the exact ones settle gaps that are about to open."""
FAR = 1e100
"""A longer step is that of a singular system."""
PIVOTS = 30
"""Times that the signs of a step's multipliers are corrected all at once."""
TOGETHER, PATIENCE = 25, 3
"""Newton steps in cuts and multipliers together, and after how many the residual must have
halved.
"""
RIDGE = 1e-15
"""Ridge of their Hessian over its trace: a small gap makes that 1e12 times the least eigenvalue."""
NARROWEST, FARTHEST = 0.3, 0.03
"""The part of a gap's width that stays in one of them, and that of the whole range by which a cut
may move.
"""
ROUNDED = 1e-14
"""What a rule with cuts of its own may lose of the Lagrangian's maximum at its multipliers."""
SWEEPS, BLOCKS = 10, 50
"""Rounds of coordinate descent between two tries of the signs that it found, and how often."""


@dataclass(frozen=True)
class Constraints:
    """The gain and K linear functionals of f on P places.

    Attributes
    ----------
    base : 1 + the utility of f = 0.
    profiles : of each place the gain and J_p more functions, expanded.
    coefficients : (K, J_p) of each place.  b : (K,).
    nobody : of each place, whether its gain counts nothing: nobody is there.
    """

    base: float
    profiles: tuple[Piecewise, ...]
    coefficients: tuple[Array, ...]
    b: Array
    nobody: tuple[bool, ...]

    @property
    def count(self) -> int:
        """Number of constraints K."""
        return self.b.size


@dataclass(frozen=True)
class DualPoint:
    """D's ingredients at multipliers ``lam`` (B, K): f = ⟦s > 0⟧, its accuracy (1 + utility) (B,),
    constraint values (B, K).
    """

    lam: Array
    sets: tuple[AcceptSets, ...]
    accuracy: Array
    values: Array

    def dual(self, eps: Array) -> Array:
        """D(λ) for budgets eps (B, K)."""
        return (
            self.accuracy
            + (self.lam * self.values).sum(axis=-1)
            + budget_term(self.lam, eps).sum(axis=-1)
        )

    def take(self, rows: Array) -> DualPoint:
        """The points ``rows``."""
        sets = tuple(own.take(rows) for own in self.sets)
        return DualPoint(self.lam[rows], sets, self.accuracy[rows], self.values[rows])

    def join(self, other: DualPoint) -> DualPoint:
        """Both, one after the other."""
        return DualPoint(
            np.concatenate([self.lam, other.lam]),
            tuple(own.join(more) for own, more in zip(self.sets, other.sets, strict=True)),
            np.concatenate([self.accuracy, other.accuracy]),
            np.concatenate([self.values, other.values]),
        )


def weights(lam: Array, rows: Array) -> Array:
    """(B, 1 + I) weights of the gain and of the functions in s = u + λ·v, at one place."""
    return np.concatenate([np.ones((len(lam), 1)), lam @ rows], axis=1)


def dual_point(problem: Constraints, lam: Array) -> DualPoint:
    """Accept sets, accuracies and constraint values at the multipliers lam (B, K)."""
    combined = [weights(lam, rows) for rows in problem.coefficients]
    sets = tuple(accept_sets(problem.profiles, combined))
    return DualPoint(lam, sets, *_worth(problem, [own.integrals for own in sets], lam))


def _worth(problem: Constraints, integrals: Sequence[Array], lam: Array) -> tuple[Array, Array]:
    """(B,) accuracies and (B, K) constraint values of sets with these integrals (B, J_p)."""
    accuracy = np.full(lam.shape[0], problem.base)
    values = np.broadcast_to(problem.b, lam.shape)
    for rows, own, nobody in zip(problem.coefficients, integrals, problem.nobody, strict=True):
        if not nobody:
            accuracy = accuracy + own[:, 0]
            values = values + own[:, 1:] @ rows.T
    return accuracy, values


def hessian(problem: Constraints, point: DualPoint, extra: Sequence[Array] | None = None) -> Array:
    """∂ values_k / ∂ λ_l (B, K, K); with ``extra``, rows (E, J_p) at each place, ∂ of those
    functionals: (B, E, K).

    Each end x_r of an accept set moves by -(v_l(x_r) / s'(x_r)) dλ_l and carries v_k(x_r) of the
    functional.
    """
    b, k = point.lam.shape
    out = np.zeros((b, k if extra is None else len(extra[0]), k))
    for p, (profile, rows, sets) in enumerate(
        zip(problem.profiles, problem.coefficients, point.sets, strict=True)
    ):
        if sets.cut.size == 0:
            continue
        mixed = weights(point.lam, rows)[sets.owner]
        slope = np.abs(np.einsum("rj,jr->r", mixed, profile.slopes(sets.cut)))
        density = profile.values(sets.cut)[1:]  # (J, R)
        v = rows @ density
        w = v if extra is None else extra[p] @ density
        with np.errstate(divide="ignore", invalid="ignore"):
            flow = np.where(slope > 0, v / slope, 0.0)
        ends = np.searchsorted(sets.owner, np.arange(b + 1))
        for row, (low, high) in enumerate(itertools.pairwise(ends)):
            out[row] += w[:, low:high] @ flow[:, low:high].T
    return out


def kkt_residual(lam: Array, values: Array, eps: Array) -> Array:
    """Largest violation of the optimality conditions, (B,)."""
    active = lam != 0
    stationary = np.abs(values + np.sign(lam) * np.where(active, eps, 0.0))
    return np.where(active, stationary, np.maximum(np.abs(values) - eps, 0.0)).max(
        axis=-1, initial=0.0
    )


def minimise_dual(
    problem: Constraints, eps: Array, start: Array | None = None, enough: float = KKT_TOLERANCE
) -> DualPoint:
    """Minimise D for one budget vector eps (K,), from no constraint or from a programme on cells.

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
    lam = np.zeros(problem.count) if start is None else start
    visited = [dual_point(problem, lam[None])]
    for k in range(MAX_ITERATIONS):
        here = visited[-1]
        if kkt_residual(here.lam, here.values, budget)[0] <= enough:
            break
        known = k < 2 or _same_cuts(visited[-2], here)
        moved = settled(problem, here, budget) if known else None
        if moved is None and k == 0 and start is None:
            moved = dual_point(problem, cells.multipliers(problem, eps)[None])
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

    Given the signs of λ + d, the minimum is the solution of a linear system. Pivots find them: what
    has the wrong sign becomes zero, and what wants to leave zero does. Where pivots go in circles,
    or beyond REACH for few constraints, coordinate descent finds the signs.
    """
    step = _pivoted(h, g, lam, budget)
    far = np.inf if step is None else float(np.abs(step).max())
    if step is not None and (far < REACH or len(h) > FEW):
        return step * min(1.0, REACH / max(far, 1e-300))
    linear, z = g - h @ lam, lam.copy()
    for _ in range(BLOCKS):
        largest = _sweep(h, linear, budget, lam, z)
        step = _stationary(h, g, lam, np.sign(z), budget)
        same = (np.sign(lam + step) == np.sign(z)).all() and (np.abs(step) < REACH).all()
        slack = np.abs(h @ step + g) <= budget + 1e-13
        settled = largest <= 1e-10 * max(1.0, float(np.abs(z).max()))
        if same and (settled or slack[z == 0].all()):
            return step
        if settled:
            break
    return z - lam


def _pivoted(h: Array, g: Array, lam: Array, budget: Array) -> Array | None:
    """The step of :func:`_quadratic_step`, however far; None where pivots go in circles."""
    signs = np.sign(lam)
    for _ in range(PIVOTS):
        step = _stationary(h, g, lam, signs, budget)
        if not np.abs(step).max() <= FAR:  # constraints that depend on each other
            return None
        slope = h @ step + g
        wrong = signs * (lam + step) < 0
        leaving = (signs == 0) & (np.abs(slope) > budget + 1e-13)
        if not (wrong | leaving).any():
            return step
        signs = np.where(wrong, 0.0, np.where(leaving, -np.sign(slope), signs))
    return None


def _stationary(h: Array, g: Array, lam: Array, signs: Array, budget: Array) -> Array:
    """The step d to where g·d + ½ d·h d + Σ budget · signs · (λ + d) is stationary in the λ_k + d_k
    with a sign; the others become 0.
    """
    free, none = np.flatnonzero(signs), np.flatnonzero(signs == 0)
    step = -lam
    right = -g[free] - signs[free] * budget[free] + h[np.ix_(free, none)] @ lam[none]
    step[free] = np.linalg.solve(h[np.ix_(free, free)], right)
    return step


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


def _together(problem: Constraints, point: DualPoint, eps: Array) -> DualPoint:
    """Multipliers (1, K) by Newton's method in the cuts x_r and λ together: s(x_r) = 0 and KKT.

    A small gap between two cuts is like the root of a change of λ: in λ alone Newton's method
    converges only where no gap changes by much of its width. Both equations are smooth in x and λ
    together, and no root has to be isolated.
    """
    lam, values, accuracy = point.lam, point.values, point.accuracy
    places = list(zip(problem.profiles, problem.coefficients, point.sets, strict=True))
    sign = [np.where(sets.rising, 1.0, -1.0) for sets in point.sets]
    cuts, integrals = [sets.cut for sets in point.sets], [s.integrals[0] for s in point.sets]
    known = [profile.at(cut) for (profile, *_), cut in zip(places, cuts, strict=True)]
    residuals = []
    for _ in range(TOGETHER):
        wrong, off, far, flows = kkt_residual(lam, values, eps)[0], 0.0, [], []
        gradient, h = values[0].copy(), np.zeros((problem.count, problem.count))
        for (_, rows, _), (terms, slopes, _), up in zip(places, known, sign, strict=True):
            mixed, v = np.append(1.0, lam[0] @ rows), rows @ terms[1:]
            height, slope = mixed @ terms, np.abs(mixed @ slopes)
            inverse = np.divide(1.0, slope, out=np.zeros_like(slope), where=slope > 1e-300)
            gradient += v @ (height * inverse)
            h += v * inverse @ v.T
            far.append(-up * height * inverse)
            flows.append(-up * inverse * v)
            off = max(off, float(np.abs(height).max(initial=0.0)))
        residuals.append(max(wrong, off))
        least = min(residuals[:-PATIENCE], default=np.inf)
        if residuals[-1] <= KKT_TOLERANCE or residuals[-1] > 0.5 * least:
            break
        h.flat[:: len(h) + 1] += RIDGE * max(float(np.trace(h)), 1e-6)
        step = _pivoted(h, gradient, lam[0], eps[0])
        if step is None:
            break
        shifts = [f + step @ flow for f, flow in zip(far, flows, strict=True)]
        rooms = [_room(p[0], *own) for p, *own in zip(places, cuts, shifts, strict=True)]
        part = min(*rooms, REACH / max(float(np.abs(step).max()), 1e-300))
        lam = lam + (step if part == 1.0 else part * step)
        cuts = [cut + part * shift for cut, shift in zip(cuts, shifts, strict=True)]
        known = [profile.at(cut) for (profile, *_), cut in zip(places, cuts, strict=True)]
        integrals = [
            above @ up + np.where(sets.first[0], profile.totals, 0.0)
            for (profile, _, sets), (*_, above), up in zip(places, known, sign, strict=True)
        ]
        accuracy, values = _worth(problem, [own[None] for own in integrals], lam)
    sets = [
        replace(old, cut=cut, integrals=own[None])
        for old, cut, own in zip(point.sets, cuts, integrals, strict=True)
    ]
    return DualPoint(lam, tuple(sets), accuracy, values)


def _room(profile: Piecewise, cut: Array, shift: Array) -> float:
    """The part in (0, 1] of a shift that keeps the cuts apart and close by, see NARROWEST."""
    most = np.full(cut.size, FARTHEST * (profile.edges[-1] - profile.edges[0]))
    wide = np.append((1.0 - NARROWEST) * np.diff(cut), most)
    moved = np.append(-np.diff(shift), np.abs(shift))
    return min(1.0, float((wide / np.maximum(moved, 1e-300)).min(initial=1.0)))


def _same_cuts(one: DualPoint, other: DualPoint) -> bool:
    return all((a.counts == b.counts).all() for a, b in zip(one.sets, other.sets, strict=True))


def settled(problem: Constraints, point: DualPoint, eps: Array) -> DualPoint | None:
    """Where Newton's method in cuts and multipliers together ends, if that is a better point.

    If another gap opens there, once more from there. A rounding of λ may change MD_k by 1e-9 where
    a gap is small: where the rule with the cuts found meets the conditions better than that of
    their λ, it is returned, its ``accuracy`` such that ``dual`` is still D(λ).
    """
    active = point.lam != 0 if point.lam.any() else np.abs(point.values) > eps
    if active.sum() > sum(sets.cut.size for sets in point.sets):
        return None  # fewer equations than unknowns
    most, limit = 0.25 * kkt_residual(point.lam, point.values, eps), point.dual(eps) + 1e-13
    for _ in range(2):
        beside = _together(problem, point, eps)
        exact = dual_point(problem, beside.lam)
        lost, found = exact.dual(eps) - beside.dual(eps), exact
        off = [kkt_residual(p.lam, p.values, eps) for p in (exact, beside)]
        if off[1] < off[0] and lost <= ROUNDED:
            found = replace(beside, accuracy=beside.accuracy + lost)
        if kkt_residual(found.lam, found.values, eps) <= most and found.dual(eps) <= limit:
            return found
        if _same_cuts(exact, point):
            return None
        point = exact
    return None


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
