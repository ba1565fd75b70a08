"""Checks of arguments: one clear error that names the argument, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


def as_floats(name: str, value: Any) -> Array:
    """Return ``value`` as a float64 array; ValueError when it is not numeric or holds NaN."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {_short(value)}") from None
    if np.isnan(array).any():
        raise ValueError(f"{name} must not hold NaN, got {_short(value)}")
    return array


def in_range(name: str, value: Any, low: float, high: float, *, open_low: bool = False) -> Array:
    """Return ``value`` as floats, all within [low, high] (or (low, high] with ``open_low``)."""
    array = as_floats(name, value)
    bad = ~((array > low if open_low else array >= low) & (array <= high))
    if bad.any():
        bracket = "(" if open_low else "["
        closing = ")" if np.isinf(high) else "]"
        where = "" if array.ndim == 0 else f" at position {_first(bad)}"
        raise ValueError(f"{name} must be in {bracket}{low:g}, {high:g}{closing}, got {array[bad][0]:g}{where}")
    return array


def positive(name: str, value: Any) -> Array:
    """Return ``value`` as floats, all positive and finite."""
    array = as_floats(name, value)
    bad = ~((array > 0) & np.isfinite(array))
    if bad.any():
        where = "" if array.ndim == 0 else f" at position {_first(bad)}"
        raise ValueError(f"{name} must be positive and finite, got {array[bad][0]:g}{where}")
    return array


def finite(name: str, value: Any) -> Array:
    """Return ``value`` as floats, none of them infinite or NaN."""
    array = as_floats(name, value)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]:g}")
    return array


def broadcast(name: str, value: ArrayLike, shape: tuple[int, ...], allowed: str) -> Array:
    """Return ``value`` broadcast to ``shape``, writable; ValueError naming ``allowed`` shapes otherwise."""
    array = np.asarray(value, dtype=np.float64)
    try:
        return np.broadcast_to(array, shape).copy()
    except ValueError:
        raise ValueError(f"{name} must have shape {allowed}, got {array.shape}") from None


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """Return ``value`` when it is one of the strings ``allowed``."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return value


def whole(name: str, value: Any, low: int) -> int:
    """Return ``value`` as an int that is at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {value!r}")
    return int(value)


def _first(bad: NDArray[np.bool_]) -> str:
    index = tuple(int(k) for k in np.argwhere(bad)[0])
    return str(index[0]) if len(index) == 1 else str(index)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
