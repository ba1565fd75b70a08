"""Many small concave quadratic programmes at once, by Mehrotra's primal-dual interior-point method.

    maximise g·x - x·Q x / 2  subject to  A x <= b

for a handful of variables and some dozen rows each. HiGHS needs 1 to 2 ms for each, whatever its
size; here a hundred of them take that together. Mehrotra's predictor and corrector, from an
infeasible start.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array

ROUNDS = 60
ROUNDED = 1e-12
"""Rows with no larger coefficient are rounding."""
ENOUGH = 1e-12
"""Residuals and complementarity at which a problem counts as solved, in units where rows and gains
are of order one.
"""
SPENT = 1e-20
"""Complementarity at which a problem ends in any case: below, the systems to solve are rounding."""
LOST = 1e30
"""Complementarity at which a problem is given up: its multipliers diverge, as they do where no
point meets the rows.
"""
LEAST = 1e-30
"""Slacks and multipliers stay above this: their ratios must not overflow."""


def maximise(
    gain: Array, rows: Array, limits: Array, curvature: Array | None = None
) -> tuple[Array, Array]:
    """Solutions x (B, n) of B problems, and the rows' multipliers (B, m).

    Parameters
    ----------
    gain : (B, n) objectives g.
    rows : (B, m, n) A, those up to ROUNDED with a non-negative limit are no constraints.
    limits : (B, m) b. The rows must bound the variables. Where they admit no point, or rounding
        keeps the method from one, x is where it gave up: callers check what they use.
    curvature : (B, n, n) Q, positive semidefinite; None for zero.
    """
    size = np.abs(rows).max(axis=2, initial=0.0)
    counts, out = size > ROUNDED, np.zeros(limits.shape)
    some = counts.any(axis=0)
    rows, limits, size, counts = rows[:, some], limits[:, some], size[:, some], counts[:, some]
    size = np.where(counts, size, 1.0)
    a, b = counts[..., None] * rows / size[..., None], limits / size + ~counts
    unit = np.abs(gain).max(axis=1)
    unit = np.where(unit > 0, unit, 1.0)
    g = gain / unit[:, None]
    q = (
        np.zeros((*gain.shape, gain.shape[1]))
        if curvature is None
        else curvature / unit[:, None, None]
    )
    x = np.zeros(gain.shape)
    s, z = np.maximum(b, 0.1), np.full(b.shape, 1.0 / np.sqrt(b.shape[1]))
    solution, multipliers = x.copy(), z.copy()
    moving = np.arange(gain.shape[0])
    for _ in range(ROUNDS):
        primal = _product(a, x) + s - b
        dual = _product(a.swapaxes(1, 2), z) - g + _product(q, x)
        mu = (s * z).mean(axis=1)
        worst = np.maximum(np.maximum(np.abs(primal).max(axis=1), np.abs(dual).max(axis=1)), mu)
        solution[moving], multipliers[moving] = x, z
        still = (worst > ENOUGH) & (mu > SPENT) & (mu < LOST)
        if not still.all():
            moving = moving[still]
            if not moving.size:
                break
            a, b, g, q, x, s, z = (v[still] for v in (a, b, g, q, x, s, z))
            primal, dual, mu = primal[still], dual[still], mu[still]
        dx, ds, dz = _direction(a, q, s, z, primal, dual, mu)
        step = 0.9995 * np.minimum(_room(s, ds), _room(z, dz))[:, None]
        x = x + step * dx
        s = np.maximum(s + step * ds, LEAST)
        z = np.maximum(z + step * dz, LEAST)
    out[:, some] = np.where(counts, multipliers * unit[:, None] / size, 0.0)
    return solution, out


def _product(a: Array, x: Array) -> Array:
    """Σ_n a[b, m, n] x[b, n]."""
    return (a @ x[..., None])[..., 0]


def _direction(
    a: Array, q: Array, s: Array, z: Array, primal: Array, dual: Array, mu: Array
) -> tuple[Array, Array, Array]:
    transposed = a.swapaxes(1, 2)
    normal = transposed @ ((z / s)[..., None] * a) + q
    trace = np.einsum("bnn->b", normal)
    inverse = np.linalg.inv(normal + (1e-14 * trace + 1e-300)[:, None, None] * np.eye(a.shape[2]))

    def solve(products: Array) -> tuple[Array, Array, Array]:
        right = -dual - _product(transposed, (z * primal - products) / s)
        dx = _product(inverse, right)
        dx += _product(inverse, right - _product(normal, dx))
        ds = -primal - _product(a, dx)
        return dx, ds, -(products + z * ds) / s

    _, ds, dz = solve(s * z)
    reach = np.minimum(_room(s, ds), _room(z, dz))[:, None]
    after = ((s + reach * ds) * (z + reach * dz)).mean(axis=1)
    centre = np.minimum((after / np.maximum(mu, 1e-300)) ** 3, 1.0) * mu
    return solve(s * z + ds * dz - centre[:, None])


def _room(v: Array, dv: Array) -> Array:
    """Largest step in [0, 1] that keeps v + step·dv >= 0, row by row."""
    with np.errstate(divide="ignore", over="ignore"):
        ratio = np.where(dv < 0, -v / np.where(dv < 0, dv, -1.0), np.inf)
    return np.minimum(ratio.min(axis=1), 1.0)
