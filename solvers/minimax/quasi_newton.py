"""Minimum of a smooth function on a domain, by scipy's BFGS and Newton's method on the gradient.

Outside the domain the function is infinite. Where a line search ends there, BFGS begins again with
shorter steps. Where values agree to rounding, Newton's method finds the gradient's root to the last
digits, its matrix from differences of gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize

from fairfl._support.checks import Array

SHORTER = 1e-3  # first steps, each time that BFGS begins again
TRIES = 5
HUGE = 1e15  # a value below -HUGE is on its way to -inf
LARGEST = 300  # unknowns up to which Newton's matrix is formed
NEWTON_STEPS = 8

Function = Callable[[Array], tuple[float, Array]]
"""θ (d,) to (value, gradient (d,)); (inf, anything) outside the domain."""


def minimise(function: Function, start: Array, gradient_tolerance: float) -> Array:
    """A point where the norm of the gradient is ``gradient_tolerance``, or the best that was found
    on the way there.

    ``start`` must lie in the domain. What was reached is for the caller to look at: nothing is
    raised.
    """
    x, first = start, 1.0
    for _ in range(TRIES):
        slope = function(x)[1]
        size = float(np.linalg.norm(slope))
        if size <= gradient_tolerance or not np.isfinite(size):
            break
        with np.errstate(all="ignore"):
            found = optimize.minimize(
                function,
                x,
                jac=True,
                method="BFGS",
                options={
                    "gtol": gradient_tolerance,
                    "norm": 2,
                    "hess_inv0": np.eye(x.size) * first / size,
                },
            )
        if found.fun < -HUGE:
            break
        x, first = found.x, SHORTER * first
    return _newton(function, x, gradient_tolerance) if len(x) <= LARGEST else x


def _newton(function: Function, x: Array, tolerance: float) -> Array:
    """Newton steps on the gradient, kept while they at least halve its norm."""
    slope = function(x)[1]
    for _ in range(NEWTON_STEPS):
        norm = float(np.linalg.norm(slope))
        if norm <= 1e-3 * tolerance:
            break
        matrix = np.empty((len(x), len(x)))
        for k in range(len(x)):
            h = np.cbrt(np.finfo(float).eps) * (1 + abs(x[k]))
            ahead, behind = x.copy(), x.copy()
            ahead[k] += h
            behind[k] -= h
            right, left = function(ahead), function(behind)
            if not (np.isfinite(right[0]) and np.isfinite(left[0])):
                return x
            matrix[:, k] = (right[1] - left[1]) / (ahead[k] - behind[k])
        moved = x - np.linalg.lstsq((matrix + matrix.T) / 2, slope, rcond=1e-12)[0]
        value, new_slope = function(moved)
        if not (np.isfinite(value) and np.linalg.norm(new_slope) <= norm / 2):
            break
        x, slope = moved, new_slope
    return x
