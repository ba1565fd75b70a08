"""Monotone rules on a finite X, f_1 <= ... <= f_n on each line (of a group, or of all): mixtures of
thresholds.

With shares g >= 0 of the thresholds, Σ g <= 1, f_k is g_1 + ... + g_k, and u·f is a sum of g times
the sums of u over the cells from each threshold on. So the problem in g has the form of the problem
in f, and a constraint more for each line. Where accepting moves a rate one way only, no programme
is needed: at cells whose gain per unit of the rate does not increase, averages over blocks replace
it (ironing: Myerson, 1981), by isotonic regression, and the rule by one sort is monotone.
"""

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.theory.populations.notions import without_rounding

FAINT = 1e-60
"""So much of its gain is what a cell moves a rate by, at least; where nobody is, the square of a
person.
"""


def threshold_sums(table: Array, cells: int, points: int) -> Array:
    """A table (..., N) whose first ``cells``, in lines of so many ``points``, are replaced by sums
    over the line from each cell on.
    """
    lines = table[..., :cells].reshape(*table.shape[:-1], -1, points)
    sums = lines[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return np.concatenate([sums.reshape(*table.shape[:-1], -1), table[..., cells:]], axis=-1)


def ironed(gain: Array, row: Array, points: int) -> tuple[Array, Array] | None:
    """Gains (N,) per unit of a rate, not decreasing along a line, and the signs (N,) of what
    accepting adds to the constraint ``row`` (N,); None where a line has both signs.
    """
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
    """A monotone rule (N,), before its ``levels``, as it is ``accepted`` (N,) where ``nobody`` is,
    as far as the other cells of a line allow.
    """
    lines = (v[: f.size - levels].reshape(-1, points) for v in (f, accepted, nobody))
    f, accepted, nobody = lines
    low = np.maximum.accumulate(np.where(nobody, 0.0, f), axis=1)
    high = np.minimum.accumulate(np.where(nobody, 1.0, f)[:, ::-1], axis=1)[:, ::-1]
    rising = np.maximum.accumulate(np.where(nobody, accepted, 0.0), axis=1)
    return np.append(np.clip(rising, low, high), np.zeros(levels))
