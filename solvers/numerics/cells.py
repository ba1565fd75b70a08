"""Multipliers from a linear programme on cells, one at each Chebyshev node, by Mehrotra's
primal-dual interior-point method.

With many constraints Newton's method on the dual has to find out which gaps are open. The programme
tells at once, to the width of a cell. The variables are the cells' rates f in [0, 1] and the
constraints' values y in [-eps, eps], with V f + b = y.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from fairfl._support.checks import Array

if TYPE_CHECKING:
    from fairfl.solvers.numerics.dual import Constraints

ROUNDS = 60
ENOUGH = 1e-10
"""Complementarity and violation at which the programme counts as solved."""
SLACK = 1e-9
"""Budgets are this much wider: with hundreds of clients constraints at zero depend on each other to
rounding, and their multipliers would be arbitrary.
"""


def multipliers(problem: Constraints, eps: Array) -> Array:
    """(K,) multipliers that are nearly optimal for budgets eps (K,)."""
    cells = [p.cells() for p in problem.profiles]
    v = np.concatenate(
        [rows @ c[1:] for rows, c in zip(problem.coefficients, cells, strict=True)], axis=1
    )
    gain = np.concatenate([*(c[0] for c in cells), np.zeros(eps.size)])
    low = np.append(np.zeros(v.shape[1]), -np.minimum(eps, 1.0) - SLACK)
    high = np.append(np.ones(v.shape[1]), np.minimum(eps, 1.0) + SLACK)
    x, lam = (low + high) / 2, np.zeros(eps.size)
    p = q = (high - low) / 2
    below = above = np.full(x.size, np.abs(gain).max())
    for _ in range(ROUNDS):
        total = v @ x[: -eps.size] + problem.b - x[-eps.size :]
        slope = gain + np.append(lam @ v, -lam)
        dual = slope - above + below
        mu = (p @ below + q @ above) / (2 * x.size)
        if max(mu * x.size, np.abs(total).max(), np.abs(dual).sum()) <= ENOUGH:
            break
        free = 1.0 / (below / p + above / q)
        inner, outer = free[: -eps.size], free[-eps.size :]
        normal = v * inner @ v.T + np.diag(outer)
        try:
            factor = scipy.linalg.cho_factor(normal + np.diag(1e-14 * np.diag(normal)))
        except np.linalg.LinAlgError:  # constraints that depend on each other, of three groups say
            break
        left = right = np.zeros(x.size)  # what p·below and q·above are to become
        for predictor in (True, False):
            rest = dual - (right / q - above) + (left / p - below)
            dlam = scipy.linalg.cho_solve(
                factor, -total - v @ (inner * rest[: -eps.size]) + outer * rest[-eps.size :]
            )
            dx = free * (np.append(dlam @ v, -dlam) + rest)
            db, da = (left - below * dx) / p - below, (right + above * dx) / q - above
            primal, other = (
                min(_room(p, dx), _room(q, -dx)),
                min(_room(below, db), _room(above, da)),
            )
            if predictor:
                after = (p + primal * dx) @ (below + other * db)
                after += (q - primal * dx) @ (above + other * da)
                centre = (after / (2 * x.size * mu)) ** 3 * mu
                left, right = centre - dx * db, centre + dx * da
        primal, other = 0.995 * primal, 0.995 * other
        x, p, q = x + primal * dx, p + primal * dx, q - primal * dx
        lam, below, above = lam + other * dlam, below + other * db, above + other * da
    y = x[-eps.size :]
    return np.where(np.abs(lam) > eps + SLACK - np.abs(y), lam, 0.0)


def _room(v: Array, dv: Array) -> float:
    """The largest step in [0, 1] that keeps v + step·dv >= 0."""
    ratio = np.divide(-v, dv, out=np.ones_like(v), where=dv < 0)
    return min(1.0, float(ratio.min()))
