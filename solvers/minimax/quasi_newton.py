"""Minimum of a smooth function on a domain, by scipy's BFGS and Newton's method on the gradient.

Outside the domain the function is infinite. Where values agree to rounding, Newton's method finds
the gradient's root to the last digits, its matrix from differences of gradients.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import optimize

from fairfl._support.checks import Array

FIRST = 1.0, 1e-3, 1e-6  # first steps, by turns: one may end far outside the domain
HUGE = 1e15  # a value below -HUGE is on its way to -inf
LARGEST = 300  # unknowns up to which Newton's matrix is formed

Function = Callable[[Array], tuple[float, Array]]
"""θ (d,) to (value, gradient (d,)); (inf, anything) outside the domain."""


def minimise(function: Function, start: Array, gradient_tolerance: float) -> Array:
    """Where the gradient's norm is ``gradient_tolerance``, or the best point on the way there."""
    x = start
    for first_step in FIRST:
        size = float(np.linalg.norm(function(x)[1]))
        if gradient_tolerance < size < np.inf:
            inverse_hessian = np.eye(x.size) * first_step / size
            options = {"gtol": gradient_tolerance, "norm": 2, "hess_inv0": inverse_hessian}
            with np.errstate(all="ignore"):
                minimum = optimize.minimize(function, x, jac=True, method="BFGS", options=options)
            x = minimum.x if minimum.fun > -HUGE else x
    return _newton(function, x, gradient_tolerance) if len(x) <= LARGEST else x


def _newton(function: Function, x: Array, tolerance: float) -> Array:
    """The gradient's root next to x, by Powell's hybrid method, if its norm is at most a half."""
    slope = partial(_gradient, function)
    norm = np.linalg.norm(slope(x))
    if norm <= 1e-3 * tolerance:
        return x
    root = optimize.root(slope, x, options={"xtol": 1e-15}).x
    return root if np.linalg.norm(slope(root)) <= norm / 2 else x


def _gradient(function: Function, x: Array) -> Array:
    """Its gradient at x, NaN outside the domain."""
    value, gradient = function(x)
    return gradient if np.isfinite(value) else np.full(x.size, np.nan)
