"""Partitions of a labelled data set among clients.

Each function returns the owner of every row, an int array of shape (N,) with values 0..clients-1,
drawn from ``seed`` alone.

>>> from fairfl.sims.data.partition import dirichlet
>>> dirichlet([0, 1] * 50, clients=2, beta=0.5, min_size=10, seed=0).shape
(100,)
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl._support.checks import in_range, positive, whole
from fairfl.sims.data.checks import generator

Owner = NDArray[np.int64]
"""The client of every row, shape (N,)."""


def labels(values: ArrayLike) -> tuple[NDArray[np.generic], NDArray[np.int64]]:
    """The distinct labels, sorted, and each row's code; ValueError unless (N,), N >= 1."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"label must have shape (N,) with N >= 1, got shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"label must not hold NaN, got NaN at row {int(np.isnan(array).argmax())}")
    classes, code = np.unique(array, return_inverse=True)
    return classes, code.astype(np.int64)


def iid(rows: int, clients: int, seed: int = 0) -> Owner:
    """Deal ``rows`` rows out at random; the sizes of any two clients differ by one at most.
    ValueError for no whole number of at least 1, and for more clients than rows.
    """
    n_clients = whole("clients", clients, 1, whole("rows", rows, 1))
    return generator(seed).permutation(np.arange(rows, dtype=np.int64) % n_clients)


def label_shards(
    label: ArrayLike, clients: int, shards_per_client: int = 2, seed: int = 0
) -> Owner:
    """Sort the rows by label, cut them into clients x shards_per_client shards, and deal these out
    at random: a client has about ``shards_per_client`` classes (McMahan et al., 2017, section 3).

    Shard sizes differ by one at most, and within a class the order is random. ValueError if there
    are more shards than rows, or an argument is not allowed.
    """
    _, code = labels(label)
    n_clients = whole("clients", clients, 1, code.size)
    shards = n_clients * whole("shards_per_client", shards_per_client, 1)
    if shards > code.size:
        raise ValueError(
            f"clients x shards_per_client must be at most the number of rows ({code.size}), got "
            f"{shards}"
        )
    rng = generator(seed)
    shuffled = rng.permutation(code.size)
    by_label = shuffled[np.argsort(code[shuffled], kind="stable")]
    shard = np.arange(code.size) * shards // code.size
    shard_owner = rng.permutation(np.arange(shards) % n_clients)
    owner = np.empty(code.size, dtype=np.int64)
    owner[by_label] = shard_owner[shard]
    return owner


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
    out by them (Hsu, Qi and Brown, 2019). No row is lost or dealt twice.

    Parameters
    ----------
    label : (N,) the class (or any other code: FedFB's table 6 uses the sensitive group) of every
        row.
    beta : concentration, > 0. Small: every class sits with few clients. Large: clients are alike.
    min_size : draw again, ``tries`` times at most, until every client has so many rows (Yurochkin
        et al., 2019).

    Raises
    ------
    PartitionError : if no draw gave every client ``min_size`` rows.
    ValueError : if an argument is not allowed.
    """
    classes, code = labels(label)
    n_clients = whole("clients", clients, 1, code.size)
    positive("beta", beta)
    if whole("min_size", min_size, 0) * n_clients > code.size:
        raise ValueError(
            f"min_size must be at most N / clients = {code.size / n_clients:g}, got {min_size}"
        )
    rng = generator(seed)
    rows = [np.flatnonzero(code == c) for c in range(classes.size)]
    largest_minimum = 0
    for _ in range(whole("tries", tries, 1)):
        owner = np.empty(code.size, dtype=np.int64)
        for members in rows:
            share = rng.dirichlet(np.full(n_clients, float(beta)))
            # all gamma draws under- or overflowed: the limit of small or of large beta
            if not np.isfinite(share).all() or share.sum() == 0:
                share = np.full(n_clients, 1 / n_clients)
                share = np.eye(n_clients)[rng.integers(n_clients)] if beta < 1 else share
            cuts = np.rint(np.cumsum(share)[:-1] * members.size).astype(np.int64)
            clients_of_rows = np.searchsorted(cuts, np.arange(members.size), side="right")
            owner[rng.permutation(members)] = clients_of_rows
        smallest = int(np.bincount(owner, minlength=n_clients).min())
        if smallest >= min_size:
            return owner
        largest_minimum = max(largest_minimum, smallest)
    raise PartitionError(
        f"no draw of {tries} gave every one of {n_clients} clients {min_size} rows (the best gave "
        f"the smallest {largest_minimum}): lower min_size or clients, or raise beta from {beta:g}"
    )


def two_groups(
    label: ArrayLike, alpha: float, clients_per_group: int = 5, seed: int = 0, groups: int = 2
) -> Owner:
    """The first half of the classes goes to group 1 with share ``alpha``, the second to group 2.

    "One group has 90 % of the data in 5 classes and the second group has 90 % of the data in the
    other 5": alpha = 0.9, ten classes (dynamic participants, section 5). alpha = 1/2 makes the
    groups alike, alpha = 1 disjoint. Within a group rows are dealt out evenly and at random:
    clients 0..clients_per_group-1 are group 1, the next are group 2, and so on.

    With more ``groups``, of which the paper has ten and does not say how, each has its run of the
    classes, and what it does not keep goes to the others evenly: 1 / groups makes them alike. Where
    classes cannot be divided evenly, later groups have more. ValueError if there are fewer classes
    than groups, a client would be left without a row, or an argument is not allowed.
    """
    classes, code = labels(label)
    in_range("alpha", alpha, 0.0, 1.0)
    n_clients = whole("clients_per_group", clients_per_group, 1)
    n_groups = whole("groups", groups, 2)
    if classes.size < n_groups:
        raise ValueError(
            f"label must hold at least {n_groups} classes, one for each group, got {classes.size}"
        )
    rng = generator(seed)
    group = np.empty(code.size, dtype=np.int64)
    for c in range(classes.size):
        members = rng.permutation(np.flatnonzero(code == c))
        home = n_groups - 1 - (classes.size - 1 - c) * n_groups // classes.size
        at_home = int(np.rint(float(alpha) * members.size))
        group[members[:at_home]] = home
        others = np.arange(members.size - at_home)
        group[members[at_home:]] = (home + 1 + others % (n_groups - 1)) % n_groups
    owner = np.empty(code.size, dtype=np.int64)
    for g in range(n_groups):
        members = rng.permutation(np.flatnonzero(group == g))
        if members.size < n_clients:
            raise ValueError(
                f"clients_per_group must be at most the {members.size} rows of group {g + 1}, "
                f"got {n_clients}"
            )
        owner[members] = g * n_clients + np.arange(members.size) % n_clients
    return owner
