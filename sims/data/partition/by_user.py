"""Rows that come with a user: a client a user."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl.sims.data.partition.checks import Owner


def by_user(user: ArrayLike) -> tuple[Owner, NDArray[Any]]:
    """The owner of every row, and the users in the order of the clients (sorted).

    Raises
    ------
    ValueError
        If ``user`` has not shape (N,) with N >= 1, or holds NaN or None.
    """
    array = np.asarray(user)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"user must have shape (N,) with N >= 1, got shape {array.shape}")
    missing = np.array([value is None or value != value for value in array.tolist()])
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(
            f"user must be known for every row, got {array.tolist()[row]} at row {row}"
        )
    users, owner = np.unique(array, return_inverse=True)
    return owner.astype(np.int64), users
