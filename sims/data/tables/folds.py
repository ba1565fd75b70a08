"""Rows dealt into folds, evenly within strata."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray


def deal(strata: Mapping[str, ArrayLike | None], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of every row: rows, shuffled by ``seed``, are sorted by stratum and dealt like
    cards. Every fold has n / folds rows, and its share of each combination of the ``strata`` (n,),
    to within one row. Rows are sorted by the first stratum first, which must be there; others may
    be None.
    """
    columns = {name: np.asarray(values) for name, values in strata.items() if values is not None}
    n = len(next(iter(columns.values())))
    keys = [np.unique(values, return_inverse=True)[1] for values in columns.values()]
    shuffled = np.random.default_rng(seed).permutation(n)
    # the last key sorts first
    order = shuffled[np.lexsort([key[shuffled] for key in reversed(keys)])]
    fold = np.empty(n, dtype=np.int64)
    fold[order] = np.arange(n) % folds
    return fold
