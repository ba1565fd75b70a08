"""LFT+FedAvg for many budget vectors at once: the dual's Newton method with the problems as an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.dual import ENOUGH, REACH, Constraints, dual_point, hessian, kkt_residual, minimise_dual

ROUNDS = 16
"""Rounds of the whole batch; what is still open then is solved one by one."""
STEPS = (0.4, 0.1, 0.02, 2e-3)


@dataclass(frozen=True)
class BatchSolution:
    """Multipliers (B, K), accuracy (B,), MD_k (B, K), acceptance rates per client and group (B, 2, I)."""

    lam: Array
    accuracy: Array
    values: Array
    rates: Array


def minimise_duals(problem: Constraints, eps: Array, start: Array, enough: float = ENOUGH) -> BatchSolution:
    """Solve B problems, eps (B, K), from multipliers ``start`` (B, K), to an optimality residual ``enough``.

    Each round takes a Newton step on the problems still open, shortened (same few lengths for all) where the full
    step does not help. Problems that stay open, next to an opening hole say, go to :func:`minimise_dual` one by one.
    """
    lam = np.where(np.isinf(eps), 0.0, start).astype(np.float64)
    count, k = lam.shape
    clients = problem.fed.n_clients
    out = BatchSolution(lam, np.zeros(count), np.zeros((count, k)), np.zeros((count, 2, clients)))
    point = dual_point(problem, lam)
    _store(out, np.arange(count), point)
    open_ = np.flatnonzero(kkt_residual(lam, out.values, eps) > enough)
    point = dual_point(problem, lam[open_]) if open_.size else point
    for _ in range(ROUNDS):
        if open_.size == 0:
            return out
        budget = eps[open_]
        h = hessian(problem, point)
        residual, value = kkt_residual(point.lam, point.values, budget), point.dual(budget)
        direction = _directions(h, point.lam, point.values, budget)
        best, moved = point.lam.copy(), np.zeros(open_.size, bool)
        waiting = np.arange(open_.size)
        for size in (1.0, *STEPS):
            trial = point.lam[waiting] + size * direction[waiting]
            seen = dual_point(problem, trial)
            d, r = seen.dual(budget[waiting]), kkt_residual(seen.lam, seen.values, budget[waiting])
            good = (d < value[waiting] - 1e-14) | ((d <= value[waiting] + 1e-13) & (r < 0.7 * residual[waiting]))
            best[waiting[good]] = trial[good]
            moved[waiting[good]] = True
            waiting = waiting[~good]
            if waiting.size == 0:
                break
        stuck = open_[~moved]
        _one_by_one(problem, eps, out, stuck, enough)
        open_, lam_open = open_[moved], best[moved]
        if open_.size == 0:
            return out
        point = dual_point(problem, lam_open)
        _store(out, open_, point)
        still = kkt_residual(point.lam, point.values, eps[open_]) > enough
        open_ = open_[still]
        point = dual_point(problem, lam_open[still]) if open_.size else point
    _one_by_one(problem, eps, out, open_, enough)
    return out


def _store(out: BatchSolution, rows: Array, point) -> None:  # type: ignore[no-untyped-def]
    out.lam[rows], out.accuracy[rows], out.values[rows] = point.lam, point.accuracy, point.values
    for a in (0, 1):
        out.rates[rows, a] = point.sets[a].integrals[:, 1:]


def _one_by_one(problem: Constraints, eps: Array, out: BatchSolution, rows: Array, enough: float) -> None:
    for b in rows:
        _store(out, np.array([b]), minimise_dual(problem, eps[b], out.lam[b], enough))


def _directions(h: Array, lam: Array, values: Array, eps: Array) -> Array:
    """Proximal Newton directions (B, K) by coordinate descent on the batch."""
    count = lam.shape[1]
    trace = np.trace(h, axis1=1, axis2=2)
    h = h + (1e-12 * np.maximum(trace, 1e-6))[:, None, None] * np.eye(count)
    diagonal = np.einsum("bkk->bk", h)
    z, slope = lam.copy(), values.copy()
    for _ in range(100):
        largest = 0.0
        for k in range(count):
            middle = z[:, k] * diagonal[:, k] - slope[:, k]
            shrunk = np.sign(middle) * np.maximum(np.abs(middle) - eps[:, k], 0.0) / diagonal[:, k]
            new = np.clip(shrunk, lam[:, k] - REACH, lam[:, k] + REACH)
            change = new - z[:, k]
            slope += change[:, None] * h[:, :, k]
            z[:, k] = new
            largest = max(largest, float(np.abs(change).max(initial=0.0)))
        if largest <= 1e-14:
            break
    # where the signs are settled, solve for the values to full precision
    active = z != 0
    mask = active[:, :, None] & active[:, None, :]
    system = np.where(mask, h, 0.0) + np.where(active, 0.0, 1.0)[:, :, None] * np.eye(count)
    right = np.einsum("bkl,bl->bk", h, lam) - values - np.sign(z) * np.where(active, eps, 0.0)
    exact = np.linalg.solve(system, np.where(active, right, 0.0)[..., None])[..., 0]
    sound = ((np.sign(exact) == np.sign(z)) & (np.abs(exact - lam) <= REACH)).all(axis=1)
    return np.where(sound[:, None], exact, z) - lam
