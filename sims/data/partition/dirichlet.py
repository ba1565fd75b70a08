"""Label skew: every class is spread over the clients by a draw from a Dirichlet law."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import positive, whole
from fairfl.sims.data.partition.checks import Owner, clients_of, generator, labels


class PartitionError(ValueError):
    """No partition with the properties asked for was found."""


def dirichlet(
    label: ArrayLike,
    clients: int,
    beta: float,
    *,
    min_size: int = 1,
    seed: int = 0,
    tries: int = 1000,
) -> Owner:
    """For each class draw shares of the clients from Dirichlet(beta, ..., beta), and deal its rows
    out by them.

    Parameters
    ----------
    label : shape (N,)
        The class (or any other code: FedFB's table 6 uses the sensitive group) of every row.
    clients : int
    beta : float
        Concentration, > 0. Small: every class sits with few clients. Large: the clients are alike.
    min_size : int
        Draw again until every client has at least so many rows.
    tries : int
        Draws before giving up.

    Raises
    ------
    PartitionError
        If no draw gave every client ``min_size`` rows.
    ValueError
        If an argument is not allowed.

    Notes
    -----
    Hsu, Qi and Brown (2019); the minimum size is Yurochkin et al.'s (2019). Cuts are rounded
    cumulative shares, so that a class's rows are dealt out whole: no row is lost or dealt twice.
    """
    classes, code = labels(label)
    count = clients_of(clients, code.size)
    positive("beta", beta)
    if whole("min_size", min_size, 0) * count > code.size:
        raise ValueError(
            f"min_size must be at most N / clients = {code.size / count:g}, got {min_size}"
        )
    rng = generator(seed)
    rows = [np.flatnonzero(code == c) for c in range(classes.size)]
    best = 0
    for _ in range(whole("tries", tries, 1)):
        owner = np.empty(code.size, dtype=np.int64)
        for members in rows:
            share = rng.dirichlet(np.full(count, float(beta)))
            # all gamma draws under- or overflowed: limits
            if not np.isfinite(share).all() or share.sum() == 0:
                share = (
                    np.eye(count)[rng.integers(count)] if beta < 1 else np.full(count, 1 / count)
                )
            cuts = np.rint(np.cumsum(share)[:-1] * members.size).astype(np.int64)
            dealt = np.searchsorted(cuts, np.arange(members.size), side="right")
            owner[rng.permutation(members)] = dealt
        smallest = int(np.bincount(owner, minlength=count).min())
        if smallest >= min_size:
            return owner
        best = max(best, smallest)
    raise PartitionError(
        f"no draw of {tries} gave every one of {count} clients {min_size} rows (the best gave "
        f"the smallest {best}): lower min_size or clients, or raise beta from {beta:g}"
    )
