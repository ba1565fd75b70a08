"""Critical points of s(x) = Σ_j c_j F_j(x): where a gap or an interval of the accept set is about
to open.

A minimum of s above zero is a *closed* gap, a maximum below zero a closed interval: as the
coefficients move it may cross zero, and there the acceptance rates change like a square root. Its
height h is smooth in the coefficients: dh/dc_j = F_j(x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.accept_sets import NOISE, isolate
from fairfl.theory.numerics.piecewise import DEGREE, DERIVATIVE, Piecewise

_SIGNS = (-1.0) ** np.arange(DEGREE + 1)
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


def critical_points(functions: Piecewise, weights: Array) -> CriticalPoints:
    """All critical points of Σ_j weights[b, j] F_j, for every b, those in faint tails left out."""
    series = np.einsum("bj,jpn->bpn", weights, functions.coefficients)
    slope = series @ DERIVATIVE
    spread = np.abs(slope[..., 1:]).sum(axis=-1)
    rows, panels = np.nonzero(np.abs(slope[..., 0]) <= spread)
    scale = np.abs(functions.coefficients).max(axis=-1)
    noise = _STEEPEST * NOISE * np.einsum("tj,jt->t", np.abs(weights[rows]), scale[:, panels])
    widths = np.diff(functions.edges)
    found = isolate(slope[rows, panels], noise, functions.edges[panels], widths[panels], rows)
    left, right = (slope * _SIGNS).sum(axis=-1), slope.sum(axis=-1)
    kink_owner, kink_panel = np.nonzero((right[:, :-1] > 0) != (left[:, 1:] > 0))
    found.append((kink_owner, functions.edges[1:-1][kink_panel]))
    owner, x = np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
    order = np.lexsort((x, owner))
    owner, x = owner[order], x[order]
    values = functions.values(x).T
    terms = weights[owner] * values
    rising = np.einsum("tj,jt->t", weights[owner], functions.slopes(x - 1e-7 * (1 + np.abs(x)))) > 0
    loud = np.abs(terms).sum(axis=1) > FAINT
    return CriticalPoints(owner[loud], x[loud], terms.sum(axis=1)[loud], rising[loud], values[loud])
