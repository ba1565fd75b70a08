"""Rows dealt out at random, in equal numbers."""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import whole
from fairfl.sims.data.partition.checks import Owner, clients_of, generator


def iid(rows: int, clients: int, seed: int = 0) -> Owner:
    """Deal ``rows`` rows out at random; the sizes of any two clients differ by one at most.

    Raises
    ------
    ValueError
        If ``rows`` or ``clients`` is not a whole number of at least 1, or there are more clients
        than rows.
    """
    count = clients_of(clients, whole("rows", rows, 1))
    return generator(seed).permutation(np.arange(rows, dtype=np.int64) % count)
