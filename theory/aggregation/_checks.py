"""Checks of arguments: one clear error that names the argument, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairfl._support import checks
from fairfl._support.checks import shown

SUM_TOLERANCE = 1e-10  # how far a sum of weights given by the user may be from one
# How far a dual constraint may be missed by rounding, relative to its bound of one, by the dtype of
# the weights.
CONSTRAINT_TOLERANCE = {"float64": 1e-10, "float32": 1e-5}


class NotAttained(ValueError):
    """The supremum that defines the dual weights is approached, and not attained: there are no dual
    weights.
    """


class NoClosedForm(NotImplementedError):
    """The conjugate asked for has no closed form here; a numeric maximisation is the way to it."""


def number(name: str, value: Any, allowed: str, ok: Any) -> float:
    """``value`` as a float when ``ok`` accepts it; ValueError that says what is ``allowed``
    otherwise.
    """
    given = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    try:
        found = float(value) if given else np.nan
    except OverflowError:  # an integer that no float holds
        found = np.nan
    if np.isnan(found) or not ok(found):
        raise ValueError(f"{name} must be {allowed}, got {shown(value)}")
    return found


def shape_of(name: str, shape: Sequence[int], n: int | None, reason: str) -> None:
    """ValueError unless ``shape`` is (..., n), with n at least one, and the given n where there is
    one.
    """
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


def as_array(name: str, x: Any) -> np.ndarray:
    """An array of floats: float32 and float64 stay what they are, integers become float64.

    Half precision is refused: nothing here has been worked out for eleven bits.
    """
    array = checks.as_array(name, x)
    if array.dtype in (np.float32, np.float64):
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind not in "iub":
        raise ValueError(f"{name} must be float32, float64 or integers, got dtype {array.dtype}")
    return array.astype(np.float64)


def as_weights(name: str, weights: Any, n: int | None, reason: str) -> np.ndarray:
    """Dual weights as a float64 array of shape (..., n), finite."""
    array = np.asarray(as_array(name, weights))
    shape_of(name, array.shape, n, reason)
    if not np.isfinite(array).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[at]} at index {at}")
    return array.astype(np.float64)


def probabilities(name: str, values: Any, *, positive: bool) -> tuple[float, ...]:
    """A vector of weights, each >= 0 (or > 0), that sum to one within SUM_TOLERANCE; never
    renormalised.
    """
    array = np.asarray(as_array(name, values), dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector of at least one weight, got shape {array.shape}")
    for k, x in enumerate(array):
        if not (np.isfinite(x) and (x > 0 if positive else x >= 0)):
            raise ValueError(
                f"{name} must be finite and {'> 0' if positive else '>= 0'}, got {x} at index {k}"
            )
    if abs(array.sum() - 1) > SUM_TOLERANCE:
        raise ValueError(
            f"{name} must sum to one (within {SUM_TOLERANCE:g}), got a sum of {array.sum():.12g}"
        )
    return tuple(array.tolist())


def outside(
    block: np.ndarray, lower: Any, upper: Any, owner: str, words: str, leading: tuple[int, ...]
) -> ValueError:
    """The error for losses (rows, n), known to leave [lower, upper] or to be non-finite."""
    bad = ~(np.isfinite(block) & (block >= lower) & (block <= upper))
    r, k = (int(i) for i in np.argwhere(bad)[0])
    at = (*(int(i) for i in np.unravel_index(r, leading)), k) if leading else (k,)
    return ValueError(
        f"losses must be finite, with {words} for {owner}, got {block[r, k]} at index {at}"
    )
