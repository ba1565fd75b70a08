"""Points of LFT+Ensemble's frontier on densities, by Newton's method from a start.

    maximise Σ_j w_j A_j(u_j)  subject to  Σ_j w_j MD_j(u_j) = goal,  0 <= u_j <= reach_j,

or without the constraint, where no budget of the pooled MD binds. At an optimum A_j' + μ MD_j' = 0
for every client inside its interval. Newton's method on these equations also works where one
client's trade-off is convex.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_ensemble.densities_tradeoff import Tradeoffs

STEPS = 6
"""Newton steps."""
LONGEST = 0.1
"""Longest Newton step, of a client's interval."""
STILL = 1e-9
"""A client that moves by no more than this, of its interval, has arrived."""


def polished(
    table: Tradeoffs, total: Callable[[Array], Array], start: Array, goal: Array, held: Array
) -> Array:
    """Coordinates (J, P) of local optima from ``start``, nearly with the MD ``goal`` (P,) where
    that is ``held``; ``total`` gives the exact MD (P,) of coordinates.
    """
    w, end, u, live = table.weight[:, None], table.u[:, -1:], start.copy(), np.arange(goal.size)
    for _ in range(STEPS):
        at, bound = u[:, live], held[live]
        missing = goal[live] - total(at)
        (r1, a1), (r2, a2) = table.slopes(at)
        inside = (at > 0) & (at < end)
        # μ that fits A' + μ MD' = 0 best over the clients inside their intervals
        counted = np.where(inside | ~inside.any(axis=0), w * r1, 0.0)
        mu = -(counted * a1).sum(axis=0) / np.maximum((counted * r1).sum(axis=0), 1e-300)
        mu = np.where(bound, mu, 0.0)
        gradient, curvature = a1 + mu * r1, a2 + mu * r2
        # inside, or drawn in from an end
        usable = ((at > 0) | (gradient > 0)) & ((at < end) | (gradient < 0))
        usable &= np.where(bound, np.abs(curvature) > 1e-300, curvature < -1e-300)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inverse = np.where(usable, 1.0 / curvature, 0.0)
            stiff, drift = (w * r1 * np.stack([r1, a1]) * inverse).sum(axis=1)
            mu = np.where(bound, -(missing + drift) / stiff, 0.0)
            step = -(a1 + mu * r1) * inverse
        # a maximum along the constraint has no convex client, or one whom the others outweigh;
        # elsewhere no step
        convex = (usable & (curvature > 0)).sum(axis=0)
        good = ~bound | ((convex == 0) & (stiff < 0)) | ((convex == 1) & (stiff > 0))
        good &= np.isfinite(step).all(axis=0)
        moved = np.where(good, np.clip(step, -LONGEST * end, LONGEST * end), 0.0)
        u[:, live] = moved = np.clip(at + moved, 0.0, end)
        live = live[(np.abs(moved - at) > STILL * end).any(axis=0)]
        if not live.size:
            break
    return u
