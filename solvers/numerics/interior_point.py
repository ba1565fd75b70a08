"""Many small concave quadratic programmes at once, by Mehrotra's primal-dual interior-point method.

    maximise g·x - x·Q x / 2  subject to  A x <= b and below <= x <= above

for a handful of variables and some dozen rows each, bounds among them.
HiGHS needs 1 to 2 ms for each, whatever its size; here a hundred of them take that together.
Mehrotra's predictor and corrector, from an infeasible start.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array

ROUNDS = 60
ROUNDED = 1e-12
"""Rows with no larger coefficient are no rows; a problem with no larger residuals and
complementarity, in units where rows and gains are of order one, is solved.
"""
SPENT = 1e-20
"""Complementarity at which a problem ends in any case: below, the systems to solve are rounding."""
LOST = 1e30
"""Complementarity at which a problem is given up: it diverges where no point meets the rows."""
RIDGE = 1e-14
"""Ridge of the systems over the means of diagonal and trace, in each unknown's own unit."""
LEAST = 1e-30
"""Slacks and multipliers stay above this: their ratios must not overflow."""


def maximise(
    gain: Array,
    rows: Array,
    limits: Array,
    below: Array,
    above: Array,
    curvature: Array | None = None,
) -> tuple[Array, Array]:
    """Solutions x (B, n) of B problems, and the rows' multipliers (B, m).

    Parameters
    ----------
    gain : (B, n) objectives g.
    rows : (B, m, n) A, those up to ROUNDED with a non-negative limit are no constraints.
    limits : (B, m) b.
    below, above : (B, n), or what broadcasts to it; infinite where there is no bound. Rows and
        bounds must bound the variables. Where they admit no point, or rounding keeps the method
        from one, x is where it gave up: callers check what they use.
    curvature : (B, n, n) Q, positive semidefinite; None for zero.
    """
    count, n = gain.shape
    bounds = np.concatenate([np.broadcast_to(side, gain.shape) for side in (above, -below)], axis=1)
    ends = np.broadcast_to(np.concatenate([np.eye(n), -np.eye(n)]), (count, 2 * n, n))
    a, b = np.concatenate([rows, ends], axis=1), np.concatenate([limits, bounds], axis=1)
    size = np.abs(a).max(axis=2, initial=0.0)
    counts = (size > ROUNDED) & np.isfinite(b)
    some = counts.any(axis=0) | (np.arange(b.shape[1]) >= limits.shape[1])
    size = np.where(counts, size, 1.0)[:, some]
    table = counts[:, some, None] * a[:, some] / size[..., None]
    # what is no constraint is 0 <= 1
    b = np.where(counts[:, some], b[:, some] / size, 1.0)
    bounded, unit = counts[:, -2 * n :], np.abs(gain).max(axis=1)
    unit = np.where(unit > 0, unit, 1.0)
    g = gain / unit[:, None]
    q = np.zeros((count, n, n)) if curvature is None else curvature / unit[:, None, None]
    x = np.zeros(gain.shape)
    s, z = np.maximum(b, 0.1), np.full(b.shape, 1.0 / np.sqrt(b.shape[1]))
    solution, multipliers = x.copy(), z.copy()
    moving = np.arange(count)
    for _ in range(ROUNDS):
        primal = _product(table, x) + s - b
        dual = _product(table.swapaxes(1, 2), z) - g + _product(q, x)
        mu = (s * z).mean(axis=1)
        worst = np.maximum(np.maximum(np.abs(primal).max(axis=1), np.abs(dual).max(axis=1)), mu)
        solution[moving], multipliers[moving] = x, z
        still = (worst > ROUNDED) & (mu > SPENT) & (mu < LOST)
        if not still.all():
            moving = moving[still]
            if not moving.size:
                break
            parts = table, bounded, b, g, q, x, s, z, primal, dual, mu
            table, bounded, b, g, q, x, s, z, primal, dual, mu = (v[still] for v in parts)
        dx, ds, dz = _direction(table, bounded, q, s, z, primal, dual, mu)
        step = 0.9995 * np.minimum(_room(s, ds), _room(z, dz))[:, None]
        x = x + step * dx
        s = np.maximum(s + step * ds, LEAST)
        z = np.maximum(z + step * dz, LEAST)
    out = np.zeros(counts.shape)
    out[:, some] = np.where(counts[:, some], multipliers * unit[:, None] / size, 0.0)
    return solution, out[:, : limits.shape[1]]


def _product(a: Array, x: Array) -> Array:
    """Σ_n a[b, m, n] x[b, n]."""
    return (a @ x[..., None])[..., 0]


def _direction(table: Array, bounded: Array, q: Array, *now: Array) -> tuple[Array, ...]:
    s, z, primal, dual, mu = now
    across = table.swapaxes(1, 2)
    m, w = table.shape[1] - bounded.shape[1], z / s
    normal = across[..., :m] @ (w[:, :m, None] * table[:, :m]) + q
    diagonal = np.einsum("bnn->bn", normal)  # a view
    diagonal += (w[:, m:] * bounded).reshape(len(w), 2, -1).sum(axis=1)
    ridge = RIDGE * np.sqrt(diagonal * diagonal.sum(axis=1, keepdims=True)) + 1e-300
    ridged = normal + ridge[..., None] * np.eye(q.shape[1])

    def solve(products: Array, *, refined: bool) -> tuple[Array, Array, Array]:
        right = -dual - _product(across, (z * primal - products) / s)
        dx = np.linalg.solve(ridged, right[..., None])[..., 0]
        if refined:
            dx += np.linalg.solve(ridged, (right - _product(normal, dx))[..., None])[..., 0]
        ds = -primal - _product(table, dx)
        return dx, ds, -(products + z * ds) / s

    _, ds, dz = solve(s * z, refined=False)
    reach = np.minimum(_room(s, ds), _room(z, dz))[:, None]
    after = ((s + reach * ds) * (z + reach * dz)).mean(axis=1)
    centre = np.minimum((after / np.maximum(mu, 1e-300)) ** 3, 1.0) * mu
    return solve(s * z + ds * dz - centre[:, None], refined=True)


def _room(v: Array, dv: Array) -> Array:
    """Largest step in [0, 1] that keeps v + step·dv >= 0, row by row."""
    with np.errstate(over="ignore"):
        return 1.0 / np.maximum((-dv / v).max(axis=1), 1.0)
