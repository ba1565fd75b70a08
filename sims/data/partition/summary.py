"""A partition as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfl.sims.data.partition.checks import labels


def summarise(owner: ArrayLike, label: ArrayLike) -> pd.DataFrame:
    """Rows of each class with each client.

    Returns
    -------
    DataFrame, a row a client
        A column a class (counts), ``total``, and ``skew``: the total variation distance between the
        client's class shares and those of the whole data set, in [0, 1]; NaN for a client without
        rows.

    Raises
    ------
    ValueError
        If ``owner`` is not of whole numbers >= 0, one for each label.
    """
    classes, code = labels(label)
    who = np.asarray(owner)
    if who.shape != code.shape or who.dtype.kind not in "iu":
        raise ValueError(
            f"owner must be whole numbers of shape {code.shape}, got {who.dtype} of shape "
            f"{who.shape}"
        )
    if who.min() < 0:
        raise ValueError(f"owner must be >= 0, got {who.min()} at row {int(who.argmin())}")
    count = int(who.max()) + 1
    table = np.bincount(who * classes.size + code, minlength=count * classes.size).reshape(
        count, classes.size
    )
    total = table.sum(axis=1)
    shares = np.where(total[:, None] > 0, table / np.maximum(total, 1)[:, None], np.nan)
    frame = pd.DataFrame(
        table, columns=pd.Index(classes, name="class"), index=pd.RangeIndex(count, name="client")
    )
    frame["total"] = total
    frame["skew"] = 0.5 * np.abs(shares - table.sum(axis=0) / code.size).sum(axis=1)
    return frame
