"""Points of LFT+Ensemble's frontier on densities: starts from a knapsack, then Newton's method.

    maximise Σ_j w_j A_j(u_j)  subject to  -d <= Σ_j w_j F_j(u_j) <= d,  0 <= u_j <= reach_j.

F is fairness, -sign·MD. Where all trade-offs are concave the best has ΣwF = -d. Else it may have
ΣwF = d, or be a peak of every client's own between: the knapsack says where to start. At an optimum
A_j' + μ F_j' = 0 for every client inside its interval, with μ = 0 between. Newton's method on these
equations also works where one client's trade-off is convex. Its result is evaluated exactly, and is
taken only where it is better than the start.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve, Multipliers

STEPS = 6
"""Newton steps."""
HOPE = 2e-3
"""The knapsack's best on the other side of MD = 0 may be this much less accurate."""
LONGEST = 0.1
"""Longest Newton step, of a client's interval."""
STILL = 1e-9
"""A client that moves by no more than this, of its interval, has arrived."""
MET = 1e-15
"""What MD may be off a goal without another step."""
MISSED = 1e-12
"""|MD| may exceed the disparity that was asked for by this much."""


def best_multipliers(curve: EnsembleCurve, disparity: Array) -> Multipliers:
    """λ (J, P) of the best ensembles found with |MD| <= disparity (P,), within MISSED: from the
    knapsack's best at both ends of [-d, d], and within where that is better.
    """
    if curve.common:
        return curve.at_common_rate(disparity)  # one multiplier for all is optimal
    table, other = curve.tradeoffs, np.maximum(-disparity, curve.lowest)
    rest = np.setdiff1d(np.arange(curve.fed.n_clients), curve.rules.bound)
    fixed = curve.sign * float((curve.fed.weight * curve.rules.ends[0])[rest].sum())
    best, known = np.zeros((curve.far.size, disparity.size)), np.full(disparity.size, -np.inf)
    accuracy = known.copy()

    def take(p: Array, u: Array) -> None:
        """Keep what is better of u (J, P) for the disparities ``p``."""
        md, found = curve.at(curve.multipliers(u))
        better = (found > accuracy[p]) & (np.abs(md) <= disparity[p] + MISSED)
        better |= np.isneginf(accuracy[p])
        best[:, p[better]], accuracy[p[better]] = u[:, better], found[better]

    ends = ((disparity, disparity, np.inf), (other, other, HOPE), (other, disparity, 0.0))
    for low, high, hope in ends:
        at, worth = table.knapsack.best(fixed - np.stack([high, low], axis=1))
        p = np.flatnonzero(worth > known - hope)
        known = np.maximum(known, worth)
        if p.size:
            u = table.split(at[p])
            goal = np.clip(curve.sign * curve.difference(curve.multipliers(u)), low[p], high[p])
            take(p, _close(curve, u, goal))
            take(p, _polish(curve, u, goal))
            take(p, table.peaks(u))
    return curve.multipliers(best)


def most_accurate(curve: EnsembleCurve) -> Multipliers:
    """λ (J, 1) of the most accurate ensemble: every client at its own peak on the pooled law.

    That is λ = 0 where η is common. Where it differs, a client's own constraint may bring its rule
    nearer to the pooled η than its own η does.
    """
    if len(set(curve.model.etas)) == 1 or curve.far.size == 0:
        return curve.multipliers(np.zeros((curve.far.size, 1)))
    table = curve.tradeoffs
    node = table.u[np.arange(curve.far.size), table.accuracy.argmax(axis=1)]
    u = table.peaks(node[:, None])
    gained = curve.own(u)[1] > table.accuracy.max(axis=1, keepdims=True)
    return curve.multipliers(np.where(gained, u, node[:, None]))


def _polish(curve: EnsembleCurve, start: Array, disparity: Array) -> Array:
    """Newton's method on the conditions of first order, the constraint by its exact value."""
    table, end = curve.tradeoffs, curve.reach[:, None]
    w = table.weight[:, None]
    u, live = start.copy(), np.arange(disparity.size)
    for _ in range(STEPS):
        at = u[:, live]
        missing = -disparity[live] + curve.sign * curve.difference(curve.multipliers(at))
        f1, f2, a1, a2 = table.slopes(at)
        inside = (at > 0) & (at < end)
        mu = _exchange_rate(w, f1, a1, inside)
        gradient = a1 + mu * f1
        # inside, or drawn in from an end
        free = ((at > 0) | (gradient > 0)) & ((at < end) | (gradient < 0))
        curvature = a2 + mu * f2
        usable = free & (np.abs(curvature) > 1e-300)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            stiff = np.where(usable, w * f1 * f1 / curvature, 0.0).sum(axis=0)
            drift = np.where(usable, w * f1 * a1 / curvature, 0.0).sum(axis=0)
            mu = -(missing + drift) / stiff
            step = np.where(usable, -(a1 + mu * f1) / curvature, 0.0)
        # a maximum along the constraint has no convex client, or one whom the others outweigh;
        # elsewhere no step
        convex = (usable & (curvature > 0)).sum(axis=0)
        good = ((convex == 0) & (stiff < 0)) | ((convex == 1) & (stiff > 0))
        good &= np.isfinite(step).all(axis=0)
        longest = LONGEST * np.maximum(end, 1e-300)
        moved = np.clip(at + np.where(good, np.clip(step, -longest, longest), 0.0), 0.0, end)
        u[:, live] = moved
        live = live[(np.abs(moved - at) > STILL * end).any(axis=0)]
        if not live.size:
            break
    return _close(curve, u, disparity)


def _exchange_rate(w: Array, f1: Array, a1: Array, inside: Array) -> Array:
    """μ (P,) that fits A' + μF' = 0 best over the clients inside their intervals."""
    counted = inside | ~inside.any(axis=0)
    square = np.where(counted, w * f1 * f1, 0.0).sum(axis=0)
    return -np.where(counted, w * f1 * a1, 0.0).sum(axis=0) / np.maximum(square, 1e-300)


def _close(curve: EnsembleCurve, u: Array, disparity: Array) -> Array:
    """Meet the constraint to rounding: what is missing goes to the client with the best exchange
    rate.
    """
    table, end = curve.tradeoffs, curve.reach[:, None]
    u, live = u.copy(), np.arange(disparity.size)
    for _ in range(4):
        at = u[:, live]
        missing = -disparity[live] + curve.sign * curve.difference(curve.multipliers(at))
        off = np.abs(missing) > MET
        at, missing, live = at[:, off], missing[off], live[off]
        if not live.size:
            return u
        f1, _, a1, _ = table.slopes(at)
        inward = np.where(missing * f1 > 0, at < end, at > 0) & (f1 != 0)
        pace = np.where(inward, table.weight[:, None] * np.abs(f1), 0.0)
        able = inward & (pace >= 0.1 * pace.max(axis=0))
        # accuracy gained by a unit of fairness, in the direction that is needed
        gained = np.where(able, np.sign(missing) * a1 / np.where(able, f1, 1.0), -np.inf)
        k, p = gained.argmax(axis=0), np.arange(live.size)
        slope = table.weight[k] * f1[k, p]
        move = np.where(able[k, p], missing / np.where(able[k, p], slope, 1.0), 0.0)
        u[k, live] = np.clip(at[k, p] + move, 0.0, curve.reach[k])
    left = disparity[live] - curve.sign * curve.difference(curve.multipliers(u[:, live]))
    far = live[np.abs(left) > MISSED]
    if far.size:
        u[:, far] = curve.meet(u[:, far], disparity[far])
    return u
