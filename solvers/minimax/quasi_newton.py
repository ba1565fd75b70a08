"""Minimum of a smooth function on a domain, by BFGS and Newton's method on the gradient (Lewis and
Overton, 2013).

The line search only halves and doubles (weak Wolfe conditions by bisection: Lewis and Overton,
2013), so a step that leaves the domain is shortened. Where values agree to rounding, Newton's
method finds the gradient's
root to the last digits, its matrix from differences of gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairfl._support.checks import Array

DECREASE, CURVATURE = 1e-4, 0.9  # of the weak Wolfe conditions
BISECTIONS = 60
HUGE = 1e15  # a value below -HUGE is on its way to -inf
NOISE = 1e-15  # of a value, relative: a decrease below it is rounding
LARGEST = 300  # unknowns up to which Newton's matrix is formed
NEWTON_STEPS = 8

Function = Callable[[Array], tuple[float, Array]]
"""θ (d,) to (value, gradient (d,)); (inf, anything) outside the domain."""


def minimise(
    function: Function, start: Array, gradient_tolerance: float, iterations: int = 2000
) -> Array:
    """A point where the norm of the gradient is ``gradient_tolerance``, or the best that was found
    on the way there.

    ``start`` must lie in the domain. What was reached is for the caller to look at: nothing is
    raised.
    """
    x = start.copy()
    value, slope = function(x)
    inverse = np.eye(len(x)) / max(float(np.linalg.norm(slope)), 1e-300)
    first = True
    for _ in range(iterations):
        if np.linalg.norm(slope) <= gradient_tolerance or not np.isfinite(value):
            break
        step = -inverse @ slope
        if not step @ slope < 0:
            inverse = np.eye(len(x)) / np.linalg.norm(slope)
            first, step = True, -inverse @ slope
        found = _line(function, x, value, slope, step)
        if found is None or found[1] < -HUGE:  # no progress, or no minimum
            break
        moved, new_value, new_slope = found
        s, y = moved - x, new_slope - slope
        curve = float(s @ y)
        if curve > 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            if first:  # the scale of the first step's curvature: Nocedal and Wright, eq. (6.20)
                inverse, first = np.eye(len(x)) * curve / float(y @ y), False
            hy = inverse @ y
            inverse += (
                np.outer(s, s) * ((curve + y @ hy) / curve**2)
                - (np.outer(hy, s) + np.outer(s, hy)) / curve
            )
        stalled = value - new_value <= NOISE * abs(value) and np.linalg.norm(
            new_slope
        ) >= np.linalg.norm(slope)
        x, value, slope = moved, new_value, new_slope
        if stalled:
            break
    return _newton(function, x, slope, gradient_tolerance) if len(x) <= LARGEST else x


def _line(
    function: Function, x: Array, value: float, slope: Array, step: Array
) -> tuple[Array, float, Array] | None:
    """A point along ``step`` that meets the weak Wolfe conditions, or the best with enough
    decrease, or None.
    """
    low, high, t = 0.0, np.inf, 1.0
    descent = float(slope @ step)
    slack = NOISE * abs(value)
    best: tuple[Array, float, Array] | None = None
    for _ in range(BISECTIONS):
        moved = x + t * step
        new_value, new_slope = function(moved)
        if not new_value <= value + DECREASE * t * descent + slack:
            high = t
        else:
            best = moved, new_value, new_slope
            if float(new_slope @ step) >= CURVATURE * descent:
                return best
            low = t
        t = 2 * low if np.isinf(high) else (low + high) / 2
        if not np.isfinite(t) or (high - low) * np.abs(step).max() <= 1e-16 * (
            1e-16 + np.abs(x).max()
        ):
            break
    return best


def _newton(function: Function, x: Array, slope: Array, tolerance: float) -> Array:
    """Newton steps on the gradient, kept while they at least halve its norm."""
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
