"""Gaps and intervals of accept sets that are about to open: walls of a search over multipliers.

At a minimum of s = u + λ·v above zero a gap of the accept set is closed, at a maximum below zero an
interval. Where the height h of s crosses zero rates change like a square root, which no quadratic
model describes; h is smooth: dh/dλ_k = v_k(x). Without walls figure 5 is worse by up to 2e-6.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules
from fairfl.solvers.numerics.chebyshev_roots import sign_changes
from fairfl.solvers.numerics.dual import weights
from fairfl.solvers.tolerances import NOISE, SCORE_FAINT
from fairfl.theory.numerics.piecewise_chebyshev import DEGREE, DERIVATIVE, Piecewise

GAPS = 3  # gaps that are kept closed, for each rule: those that a step opens first


class Walls(NamedTuple):
    """Critical points of s that keep their side of zero, GAPS for each rule (B, W): places, points,
    1 for minima and -1 for maxima and 0 for none, heights, and derivatives (B, W, K) in λ.
    """

    place: Array
    x: Array
    side: Array
    height: Array
    change: Array


def critical_points(
    functions: Sequence[Piecewise], combined: Sequence[Array]
) -> list[tuple[Array, Array, Array, Array]]:
    """Of each place the critical points of Σ_j combined[b, j] F_j, but for those in faint tails: b
    (R,), the points (R,), F_j there (R, J), and whether (R,) it is a maximum.
    """
    places = list(zip(functions, combined, strict=True))
    # a series' slope is at most DEGREE² times its own size: so much more rounding it carries
    noise = [DEGREE**2 * NOISE * (np.abs(w) @ f.sizes) for f, w in places]
    changes = sign_changes(functions, [f.combined(w) @ DERIVATIVE for f, w in places], noise)
    out = []
    for (f, w), owner, x in zip(places, *changes, strict=True):
        values = f.values(x).T
        loud = np.abs(w[owner] * values).sum(axis=1) > SCORE_FAINT
        owner, x, values = owner[loud], x[loud], values[loud]
        before = f.at(x - 1e-7 * (1 + np.abs(x)), 2)[0]
        out.append((owner, x, values, (w[owner].T * before).sum(axis=0) > 0))
    return out


def closed_gaps(family: RuleFamily, rules: Rules, basis: Array, score: Array) -> Walls:
    """The gaps that steps of λ by ``basis`` (B, K, K) may open, but for those that the Lagrangian,
    whose coefficients are ``score`` (B, 1 + K + M), wants open.
    """
    count, k = rules.lam.shape
    mixed = [weights(rules.lam, rows) for rows in family.problem.coefficients]
    parts: list[tuple[Array, ...]] = []
    for p, points in enumerate(critical_points(family.problem.profiles, mixed)):
        owner, x, values, peak = points
        side, height = np.where(peak, -1.0, 1.0), (mixed[p][owner] * values).sum(axis=1)
        v = values[:, 1:] @ family.problem.coefficients[p].T
        carried = np.concatenate([values[:, :1], v, values[:, 1:] @ family.pooled[p].T], axis=1)
        reach = np.abs(np.einsum("rk,rkz->rz", v, basis[owner])).sum(axis=1)
        distance = np.abs(height) / np.maximum(reach, 1e-300)
        keep = (side * height > 0) & (distance < 1.5) & (side * (score[owner] * carried).sum(1) > 0)
        fields = distance, owner, np.full(keep.size, p), x, side, height, v
        parts.append(tuple(part[keep] for part in fields))
    distance, owner, *fields = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((distance, owner))
    rank = np.arange(order.size) - np.searchsorted(owner[order], owner[order])
    order, rank = order[rank < GAPS], rank[rank < GAPS]
    x, side, height = np.zeros((3, count, GAPS))
    out = Walls(np.zeros((count, GAPS), int), x, side, height, np.zeros((count, GAPS, k)))
    for table, values in zip(out, fields, strict=True):
        table[owner[order], rank] = values[order]
    return out


def moved(family: RuleFamily, lam: Array, walls: Walls) -> Walls:
    """The walls at multipliers (B, K) close by: Newton's method in x, by half a panel at most."""
    out = walls._replace(x=walls.x.copy(), height=0.0 * walls.x, change=0.0 * walls.change)
    places = zip(family.problem.profiles, family.problem.coefficients, strict=True)
    for p, (profile, rows) in enumerate(places):
        at = np.nonzero((walls.side != 0) & (walls.place == p))
        x, side, mixed = walls.x[at], walls.side[at], weights(lam, rows)[at[0]].T
        for _ in range(2):
            slope, bend = (mixed * profile.at(x, 2, 4)).sum(axis=1)
            bent = side * bend > 0
            span = 0.5 * np.diff(profile.edges)[profile.locate(x)[0]]
            x = x - np.where(bent, slope / np.where(bent, bend, 1.0), 0.0).clip(-span, span)
        f = profile.at(x, 1, 2)[0]
        out.x[at], out.height[at], out.change[at] = x, (mixed * f).sum(axis=0), (rows @ f[1:]).T
    return out
