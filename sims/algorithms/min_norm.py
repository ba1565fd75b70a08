"""The point of least norm in a convex hull, its weights within a box: a small quadratic programme by active sets."""

from __future__ import annotations

import numpy as np

from fairfl.sims.engine.task import Floats

TOLERANCE = 1e-12  # of multipliers and steps, for Gram matrices with a diagonal of about one


class NoMinimum(ArithmeticError):
    """The active sets did not settle."""


def min_norm_weights(gram: Floats, center: Floats, radius: float) -> Floats:
    """argmin of v^T G v over v >= 0, sum one, |v_k - center_k| <= radius; G (m, m) positive semidefinite.

    ``center`` is positive with sum one, and so feasible. Where the minimiser is not unique, one of them.
    """
    low, high = np.maximum(center - radius, 0.0), np.minimum(center + radius, 1.0)
    v = center.copy()
    free = low < high
    if not free.any():
        return v
    for _ in range(100 * (len(v) + 1)):
        step = _step(gram, v, free)
        if np.abs(step).max() <= TOLERANCE:
            slope = gram @ v
            level = slope[free].mean()
            # at the lower end the slope must not be below the level, at the upper end not above it
            wrong = np.where(v == low, level - slope, slope - level)
            wrong[free | (low == high)] = -np.inf
            worst = int(np.argmax(wrong))
            if wrong[worst] <= TOLERANCE:
                return v
            free[worst] = True
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step > 0, (high - v) / step, np.where(step < 0, (low - v) / step, np.inf))
        reach[~free] = np.inf
        k = int(np.argmin(reach))
        if reach[k] >= 1:
            v = v + step
        else:
            v = v + max(reach[k], 0.0) * step
            v[k] = high[k] if step[k] > 0 else low[k]
            free[k] = False
    raise NoMinimum(f"the least norm was not found for {len(v)} updates: a Gram matrix of rank {_rank(gram)}")


def _step(gram: Floats, v: Floats, free: np.ndarray) -> Floats:
    """From v to the minimum over the free weights, their sum kept; the shortest such step where G is singular."""
    count = int(free.sum())
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = gram[np.ix_(free, free)]
    system[:count, count] = system[count, :count] = 1.0
    right = np.append(-(gram @ v)[free], 0.0)
    solution = np.linalg.lstsq(system, right, rcond=1e-13)[0]
    step = np.zeros_like(v)
    step[free] = solution[:count] - solution[:count].mean()
    return step


def _rank(gram: Floats) -> int:
    return int(np.linalg.matrix_rank(gram))
