"""Monotone rules on a finite X, f_1 <= ... <= f_n on each line (of a group, or of all): mixtures of
thresholds.

With shares g >= 0 of the thresholds, Σ g <= 1, the problem in g has the form of the problem in f,
and a constraint more for each line. Where accepting moves a rate one way only, no programme is
needed: at cells whose gain per unit of the rate does not increase, averages over blocks replace it
(ironing: Myerson, 1981), by isotonic regression, and the rule by one sort is monotone.
"""

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.theory.populations.notions import without_rounding

FAINT = 1e-60
"""So much of its gain is what a cell moves a rate by, at least; where nobody is, the square of a
person.
"""


def lifted(
    u: Array, v: Array, limits: Array, owner: Array, points: int, levels: int
) -> tuple[Array, Array, Array, Array]:
    """Gains, constraints, limits (3, K) and owners of a problem in shares; of each line also |Σ g -
    1/2| <= 1/2. ``levels`` unknowns stand behind the lines of ``points``.
    """
    cells = u.size - levels
    u, v = (_sums(table, cells, points) for table in (u, v))
    lines = np.zeros((cells // points, u.size))
    lines[:, :cells] = np.repeat(np.eye(len(lines)), points, axis=1)
    halves = np.outer([-0.5, 0.5, 0.5], np.ones(len(lines)))
    owner = np.append(owner, np.full(len(lines), -1))
    return u, np.vstack([v, lines]), np.hstack([limits, halves]), owner


def best_thresholds(scores: Array, points: int, levels: int) -> Array:
    """The largest sum over the cells of each line from a threshold on, and the levels' scores."""
    cells = scores.size - levels
    sums = _sums(scores, cells, points)
    return np.append(sums[:cells].reshape(-1, points).max(axis=1), sums[cells:])


def _sums(table: Array, cells: int, points: int) -> Array:
    """A table (..., N) with sums over the line from each cell on in place of its first cells."""
    lines = table[..., :cells].reshape(*table.shape[:-1], -1, points)
    sums = lines[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return np.concatenate([sums.reshape(*table.shape[:-1], -1), table[..., cells:]], axis=-1)


def ironed(gain: Array, row: Array, person: Array, points: int) -> tuple[Array, Array] | None:
    """Gains (N,) per unit of a rate, not decreasing along a line, and the signs (N,) of what
    accepting adds to ``row`` (N,); None where a line has both. ``person`` (2, N): of one person
    where nobody is.
    """
    gain, row = [gain, row] + FAINT**2 * person
    out, signs = [], []
    for u, v in zip(gain.reshape(-1, points), row.reshape(-1, points), strict=True):
        sign = -1.0 if v.sum() < 0 else 1.0
        if (sign * v).min() < 0:
            return None
        size = np.maximum(np.abs(v) + FAINT * np.abs(u), FAINT**4)
        ratio = scipy.optimize.isotonic_regression(u / size, weights=size).x
        block = np.append(0, np.cumsum(np.diff(ratio) != 0))
        terms = np.bincount(block, np.abs(u)) / np.bincount(block, size)
        out.append(without_rounding(ratio, terms[block]))
        signs.append(np.full(points, sign))
    return np.concatenate(out), np.concatenate(signs)


def filled(f: Array, accepted: Array, nobody: Array, levels: int, points: int) -> Array:
    """A monotone rule (N,), as it is ``accepted`` (N,) where ``nobody`` is, if possible."""
    lines = (v[: f.size - levels].reshape(-1, points) for v in (f, accepted, nobody))
    f, accepted, nobody = lines
    low = np.maximum.accumulate(np.where(nobody, 0.0, f), axis=1)
    high = np.minimum.accumulate(np.where(nobody, 1.0, f)[:, ::-1], axis=1)[:, ::-1]
    rising = np.maximum.accumulate(np.where(nobody, accepted, 0.0), axis=1)
    return np.append(np.clip(rising, low, high), np.zeros(levels))
