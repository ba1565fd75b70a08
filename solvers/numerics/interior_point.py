"""Many small concave quadratic programmes at once: maximise g·x - x·Q x / 2 subject to A x <= b and
below <= x <= above, by Mehrotra's predictor and corrector from an infeasible start (slacks s and
multipliers z of all rows, the bounds' after those of A; complementarity μ = mean(s z)).

HiGHS needs 1 to 2 ms for each, whatever its size; here a hundred of them take that together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.tolerances import INTERIOR_SOLVED

ROUNDS = 60
SPENT = 1e-20
"""Complementarity at which a problem ends in any case: below, the systems to solve are rounding."""
LOST = 1e30
"""Complementarity at which a problem is given up: it diverges where no point meets the rows."""
RIDGE = 1e-14
"""Ridge of the systems over the means of diagonal and trace, in each unknown's own unit."""
LEAST = 1e-30  # slacks and multipliers stay above this: their ratios must not overflow


class _Rows(NamedTuple):
    """Rows ``a`` (B, m, n), and upper and lower bounds of x where ``ends`` (B, 2, n) is 1."""

    a: Array
    ends: Array

    def take(self, problems: Array) -> _Rows:
        return _Rows(self.a[problems], self.ends[problems])

    def of(self, x: Array) -> Array:
        """(B, m + 2 n) the left sides at x (B, n)."""
        upper, lower = self.ends[:, 0] * x, -self.ends[:, 1] * x
        return np.concatenate([_product(self.a, x), upper, lower], axis=1)

    def pull(self, z: Array) -> Array:
        """(B, n) the rows times z (B, m + 2 n)."""
        m, n = self.a.shape[1:]
        combined = _product(self.a.swapaxes(1, 2), z[:, :m])
        return combined + self.ends[:, 0] * z[:, m : m + n] - self.ends[:, 1] * z[:, m + n :]

    def normal(self, w: Array) -> Array:
        """(B, n, n) the sums of the rows' outer products, times w (B, m + 2 n)."""
        m, n = self.a.shape[1:]
        out = self.a.swapaxes(1, 2) @ (w[:, :m, None] * self.a)
        diagonal = np.arange(n)
        out[:, diagonal, diagonal] += (
            self.ends[:, 0] * w[:, m : m + n] + self.ends[:, 1] * w[:, m + n :]
        )
        return out


def maximise(
    gain: Array,
    rows: Array,
    limits: Array,
    below: Array,
    above: Array,
    curvature: Array | None = None,
) -> tuple[Array, Array]:
    """Solutions x (B, n) of B problems, and the rows' multipliers (B, m).

    Rows up to INTERIOR_SOLVED are no constraints; bounds may be infinite, but rows and bounds must
    bound x. Where they admit no point, or rounding keeps the method from one, x is where it gave
    up: callers check. ``curvature`` is Q, None for zero.
    """
    n_problems, n = gain.shape
    bounds = np.concatenate([np.broadcast_to(side, gain.shape) for side in (above, -below)], axis=1)
    row_size = np.abs(rows).max(axis=2, initial=0.0)
    is_constraint, prices = row_size > INTERIOR_SOLVED, np.zeros(limits.shape)
    is_used = is_constraint.any(axis=0)
    row_size, is_bounded = np.where(is_constraint, row_size, 1.0)[:, is_used], np.isfinite(bounds)
    a = is_constraint[:, is_used, None] * rows[:, is_used] / row_size[..., None]
    # what is no constraint is 0 <= 1
    b = limits[:, is_used] / row_size + ~is_constraint[:, is_used]
    b = np.append(b, np.where(is_bounded, bounds, 1.0), axis=1)
    table = _Rows(a, is_bounded.reshape(n_problems, 2, n) * 1.0)
    unit = np.abs(gain).max(axis=1)
    unit = np.where(unit > 0, unit, 1.0)
    g = gain / unit[:, None]
    q = np.zeros((n_problems, n, n)) if curvature is None else curvature / unit[:, None, None]
    x = np.zeros(gain.shape)
    s, z = np.maximum(b, 0.1), np.full(b.shape, 1.0 / np.sqrt(b.shape[1]))
    solution, multipliers = x.copy(), z.copy()
    unsolved = np.arange(n_problems)
    for _ in range(ROUNDS):
        primal = table.of(x) + s - b
        dual = table.pull(z) - g + _product(q, x)
        mu = (s * z).mean(axis=1)
        residual = np.maximum(np.maximum(np.abs(primal).max(axis=1), np.abs(dual).max(axis=1)), mu)
        solution[unsolved], multipliers[unsolved] = x, z
        is_open = (residual > INTERIOR_SOLVED) & (mu > SPENT) & (mu < LOST)
        if not is_open.all():
            unsolved = unsolved[is_open]
            if not unsolved.size:
                break
            b, g, q, x, s, z = (v[is_open] for v in (b, g, q, x, s, z))
            table = table.take(is_open)
            primal, dual, mu = (v[is_open] for v in (primal, dual, mu))
        dx, ds, dz = _direction(table, q, s, z, primal, dual, mu)
        step = 0.9995 * np.minimum(_room(s, ds), _room(z, dz))[:, None]
        x = x + step * dx
        s = np.maximum(s + step * ds, LEAST)
        z = np.maximum(z + step * dz, LEAST)
    row_multipliers = multipliers[:, : row_size.shape[1]] * unit[:, None] / row_size
    prices[:, is_used] = np.where(is_constraint[:, is_used], row_multipliers, 0.0)
    return solution, prices


def _product(a: Array, x: Array) -> Array:
    """Σ_n a[b, m, n] x[b, n]."""
    return (a @ x[..., None])[..., 0]


def _direction(
    table: _Rows, q: Array, s: Array, z: Array, primal: Array, dual: Array, mu: Array
) -> tuple[Array, Array, Array]:
    """Steps of x, s and z at what rows and gradient miss, ``primal`` and ``dual``."""
    normal = table.normal(z / s) + q
    diagonal = np.einsum("bnn->bn", normal)
    ridge = RIDGE * np.sqrt(diagonal * diagonal.sum(axis=1, keepdims=True)) + 1e-300
    inverse = np.linalg.inv(normal + ridge[..., None] * np.eye(q.shape[1]))

    def step(products: Array) -> tuple[Array, Array, Array]:
        """That takes ``products`` off s·z, by Newton's equations, refined once."""
        right = -dual - table.pull((z * primal - products) / s)
        dx = _product(inverse, right)
        dx += _product(inverse, right - _product(normal, dx))
        ds = -primal - table.of(dx)
        return dx, ds, -(products + z * ds) / s

    _, ds, dz = step(s * z)
    reach = np.minimum(_room(s, ds), _room(z, dz))[:, None]
    after = ((s + reach * ds) * (z + reach * dz)).mean(axis=1)
    centre = np.minimum((after / np.maximum(mu, 1e-300)) ** 3, 1.0) * mu
    return step(s * z + ds * dz - centre[:, None])


def _room(v: Array, dv: Array) -> Array:
    """Largest step in [0, 1] that keeps v + step·dv >= 0, row by row."""
    with np.errstate(over="ignore"):
        return 1.0 / np.maximum((-dv / v).max(axis=1), 1.0)
