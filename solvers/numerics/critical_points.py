"""Critical points of s(x) = Σ_j c_j F_j(x): where a gap or an interval of the accept set is about
to open.

A minimum of s above zero is a *closed* gap, a maximum below zero a closed interval: as the
coefficients move it may cross zero, and there the acceptance rates change like a square root. Its
height h is smooth in the coefficients: dh/dc_j = F_j(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.accept_sets import NOISE, sign_changes
from fairfl.theory.numerics.piecewise import DEGREE, DERIVATIVE, Piecewise

_STEEPEST = float(DEGREE**2)
"""A series' slope is at most this often its own size: so much more rounding it carries."""
FAINT = 1e-9
"""Critical points where the terms of s are all smaller than this (a density) are left out: no rate
depends on them.
"""


@dataclass(frozen=True)
class CriticalPoints:
    """Critical points of combinations b = 0..B-1, sorted by ``owner``.

    Attributes
    ----------
    owner : (R,) which combination.
    x, height : (R,) the point, and s there.
    peak : (R,) bool, a maximum (else a minimum).
    values : (R, J) F_j(x), the gradient of the height in the coefficients.
    """

    owner: Array
    x: Array
    height: Array
    peak: Array
    values: Array

    @property
    def closed(self) -> Array:
        """(R,) bool: maxima below zero and minima above it."""
        return np.where(self.peak, self.height < 0, self.height > 0)


def critical_points(
    functions: Sequence[Piecewise], weights: Sequence[Array]
) -> list[CriticalPoints]:
    """All critical points of Σ_j weights[a][b, j] F_a,j, for every b and each group a, those in
    faint tails left out.
    """
    noise = _STEEPEST * NOISE
    found = sign_changes(
        functions,
        [f.combined(w) @ DERIVATIVE for f, w in zip(functions, weights, strict=True)],
        [noise * (np.abs(w) @ f.sizes) for f, w in zip(functions, weights, strict=True)],
    )
    return [_evaluated(*each) for each in zip(functions, weights, *found, strict=True)]


def _evaluated(functions: Piecewise, weights: Array, owner: Array, x: Array) -> CriticalPoints:
    order = np.lexsort((x, owner))
    owner, x = owner[order], x[order]
    values = functions.values(x).T
    terms = weights[owner] * values
    loud = np.abs(terms).sum(axis=1) > FAINT
    owner, x, terms, values = owner[loud], x[loud], terms[loud], values[loud]
    before = functions.at(x - 1e-7 * (1 + np.abs(x)), 2)[0]
    rising = np.einsum("tj,jt->t", weights[owner], before) > 0
    return CriticalPoints(owner, x, terms.sum(axis=1), rising, values)
