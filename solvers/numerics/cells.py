"""Multipliers from a linear programme on cells, four on each panel, by Mehrotra's
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
ENOUGH = 1e-9
"""Complementarity and violation at which the programme counts as solved."""
SLACK = 1e-9
"""Budgets are this much wider: with hundreds of clients constraints at zero depend on each other to
rounding, and their multipliers would be arbitrary.
"""


def multipliers(problem: Constraints, eps: Array) -> Array:
    """(K,) multipliers that are nearly optimal for budgets eps (K,)."""
    cells = [p.cells() for p in problem.profiles]
    v = [rows @ c[1:] for rows, c in zip(problem.coefficients, cells, strict=True)]
    v = np.concatenate([*v, -np.eye(eps.size)], axis=1)  # the last unknowns are y
    gain = np.concatenate([*(c[0] for c in cells), np.zeros(eps.size)])
    limit = np.minimum(eps, 1.0) + SLACK
    free = (gain > 0) * 1.0
    if (np.abs(v @ free + problem.b) <= limit).all():
        return np.zeros(eps.size)
    x = np.full(gain.size, 0.5)
    x[-eps.size :], lam = 0.0, np.zeros(eps.size)
    # the distances to the bounds, first the lower ones, and their multipliers
    s = np.tile(np.append(x[: -eps.size], limit), 2)
    z = np.full(s.size, np.abs(gain).max())
    for _ in range(ROUNDS):
        missed = v @ x + problem.b
        below, above = np.split(z, 2)
        slope = gain + lam @ v + below - above
        mu = s @ z / s.size
        if max(mu * x.size, np.abs(missed).max(), np.abs(slope).sum()) <= ENOUGH:
            break
        weight = z / s
        free = 1.0 / (weight[: x.size] + weight[x.size :])
        normal = v * free @ v.T
        normal[np.diag_indices(eps.size)] *= 1.0 + 1e-14
        factor, dependent = scipy.linalg.lapack.dpotrf(normal)
        if dependent:  # constraints follow from each other, of three groups say
            break
        change = -z  # of z, where s stays
        for predictor in (True, False):
            rest = slope + change[: x.size] - change[x.size :]
            dlam = scipy.linalg.lapack.dpotrs(factor, -missed - v @ (free * rest))[0]
            dx = free * (dlam @ v + rest)
            ds = np.append(dx, -dx)
            dz = change - weight * ds
            primal, dual = _room(s, ds), _room(z, dz)
            if predictor:
                after = (s + primal * ds) @ (z + dual * dz) / s.size
                change = ((after / mu) ** 3 * mu - ds * dz) / s - z
        primal, dual = 0.995 * primal, 0.995 * dual
        x, s = x + primal * dx, s + primal * ds
        lam, z = lam + dual * dlam, z + dual * dz
    return np.where(np.abs(lam) > limit - np.abs(x[-eps.size :]), lam, 0.0)


def _room(v: Array, dv: Array) -> float:
    """The largest step in [0, 1] that keeps v + step·dv >= 0."""
    return 1.0 / max(1.0, float((-dv / v).max()))
