"""Arguments that the partitions share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl._support.checks import whole

Owner = NDArray[np.int64]
"""The client of every row, shape (N,)."""


def labels(values: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct labels, sorted, and each row's place there; ValueError unless (N,), N >= 1."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"label must have shape (N,) with N >= 1, got shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"label must not hold NaN, got NaN at row {int(np.isnan(array).argmax())}")
    classes, code = np.unique(array, return_inverse=True)
    return classes, code.astype(np.int64)


def clients_of(clients: Any, rows: int) -> int:
    """The number of clients as an int in [1, rows]."""
    count = whole("clients", clients, 1)
    if count > rows:
        raise ValueError(f"clients must be at most the number of rows ({rows}), got {count}")
    return count


def generator(seed: Any) -> np.random.Generator:
    """numpy's default generator from a seed, a whole number >= 0."""
    return np.random.default_rng(whole("seed", seed, 0))
