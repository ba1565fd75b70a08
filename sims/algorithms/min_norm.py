"""The point of least norm in a convex hull, with bounded weights, by an active-set method."""

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.task import Floats
from fairfl.theory.numerics.projections import onto_box_of_sum

TOLERANCE = 1e-12
"""Tolerance of multipliers and steps, for Gram matrices with a diagonal of about one."""
FEW = 40
"""Largest number of clients for which the active sets are searched from the centre."""
PASSES, NEAR = 300, 1e-7
"""Steps of accelerated projected gradient; distance at which a weight is on its bound."""


def min_norm_weights(gram: Floats, center: Floats, radius: float | Floats) -> Floats:
    """argmin of v^T G v over v >= 0, sum one, |v_k - center_k| <= radius_k; G (m, m) positive
    semidefinite.

    ``center`` is positive with sum one, and so feasible. Where the minimiser is not unique, one of
    them.
    """
    low, high = np.maximum(center - radius, 0.0), np.minimum(center + radius, 1.0)
    if not (low < high).any():
        return center.copy()
    v, free = (center.copy(), low < high) if len(center) <= FEW else _start(gram, center, low, high)
    for _ in range(100 * (len(v) + 1)):
        step = _step(gram, v, free)
        if np.abs(step).max() <= TOLERANCE:
            slope = gram @ v
            free_slope = slope[free].mean()
            # at the lower end the slope must not be below ``free_slope``, at the upper not above
            violation = np.where(v == low, free_slope - slope, slope - free_slope)
            violation[free | (low == high)] = -np.inf
            largest_violation = int(np.argmax(violation))
            if violation[largest_violation] <= TOLERANCE:
                return v
            free[largest_violation] = True
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            step_to_bound = np.where(
                step > 0, (high - v) / step, np.where(step < 0, (low - v) / step, np.inf)
            )
        step_to_bound[~free] = np.inf
        k = int(np.argmin(step_to_bound))
        if step_to_bound[k] >= 1:
            v = v + step
        else:
            v = v + max(step_to_bound[k], 0.0) * step
            v[k] = high[k] if step[k] > 0 else low[k]
            free[k] = False
    rank = np.linalg.matrix_rank(gram)
    raise ArithmeticError(
        f"the least norm was not found for {len(v)} updates: Gram matrix of rank {rank}"
    )


def _start(
    gram: Floats, center: Floats, low: Floats, high: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """A feasible point near the minimum, and which of its weights are off their bounds: accelerated
    projected gradient.

    Source: Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm (SIAM J. Imaging
    Sciences 2009).
    """
    length = float(np.linalg.norm(gram, 2))
    if length == 0:  # all updates are 0: every v is a minimum
        return center.copy(), low < high
    v = ahead = center
    t = 1.0
    for _ in range(PASSES):
        new = onto_box_of_sum(ahead - gram @ ahead / length, low, high, 1.0)
        t, previous = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
        ahead = new + (previous - 1) / t * (new - v)
        v = new
    free = (v > low + NEAR) & (v < high - NEAR)
    v = np.where(free, v, np.where(v <= low + NEAR, low, high))
    if not free.any() or not (low[free] <= v[free] + (1 - v.sum()) / free.sum()).all():
        return center.copy(), low < high
    v[free] += (1 - v.sum()) / free.sum()
    return (v, free) if (v <= high).all() and (v >= low).all() else (center.copy(), low < high)


def _step(gram: Floats, v: Floats, free: NDArray[np.bool_]) -> Floats:
    """From v to the minimum over the free weights, their sum kept; the shortest if singular."""
    count = int(free.sum())
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = gram[np.ix_(free, free)]
    system[:count, count] = system[count, :count] = 1.0
    right = np.append(-(gram @ v)[free], 0.0)
    solution = np.linalg.lstsq(system, right, rcond=1e-13)[0]
    step = np.zeros_like(v)
    step[free] = solution[:count] - solution[:count].mean()
    return step
