"""Checks of arguments: one clear error that names the argument, the value and what is allowed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, in_range

SUM_TOLERANCE = 1e-10  # how far a sum of weights given by the user may be from one


class NotAttained(ValueError):
    """There are no dual weights: the supremum that defines them is approached, and not attained."""


class NoClosedForm(NotImplementedError):
    """The conjugate asked for has no closed form here; a numeric maximisation is the way to it."""


def shape_of(name: str, shape: Sequence[int], n: int | None, reason: str) -> None:
    """ValueError unless ``shape`` is (..., n), n at least one, and the given n if there is one."""
    if len(shape) == 0 or shape[-1] == 0:
        raise ValueError(
            f"{name} must have shape (..., n) with n >= 1 clients on the last axis, got "
            f"{tuple(shape)}"
        )
    if n is not None and shape[-1] != n:
        raise ValueError(
            f"{name} must have n = {n} clients on the last axis ({reason}), got shape "
            f"{tuple(shape)}"
        )


def probabilities(name: str, values: ArrayLike, *, positive: bool) -> tuple[float, ...]:
    """Weights in [0, 1], or (0, 1], that sum to one within SUM_TOLERANCE; never renormalised."""
    array = in_range(name, values, 0.0, 1.0, open_low=positive)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector of at least one weight, got shape {array.shape}")
    if abs(array.sum() - 1) > SUM_TOLERANCE:
        raise ValueError(
            f"{name} must sum to one (within {SUM_TOLERANCE:g}), got a sum of {array.sum():.12g}"
        )
    return tuple(array.tolist())


def outside(
    block: Array,
    lower: Array | float,
    upper: Array | float,
    owner: str,
    words: str,
    leading: tuple[int, ...],
) -> ValueError:
    """The error for losses (rows, n), known to leave [lower, upper] or to be non-finite."""
    bad = ~(np.isfinite(block) & (block >= lower) & (block <= upper))
    r, k = (int(i) for i in np.argwhere(bad)[0])
    at = (*(int(i) for i in np.unravel_index(r, leading)), k) if leading else (k,)
    return ValueError(
        f"losses must be finite, with {words} for {owner}, got {block[r, k]} at index {at}"
    )
