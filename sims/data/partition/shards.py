"""Label shards: rows sorted by label, cut into equal pieces, a few of which each client gets."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import whole
from fairfl.sims.data.partition.checks import Owner, clients_of, generator, labels


def label_shards(
    label: ArrayLike, clients: int, shards_per_client: int = 2, seed: int = 0
) -> Owner:
    """Sort the rows by label, cut them into clients x shards_per_client shards, and deal these out
    at random.

    A client then knows about ``shards_per_client`` classes. Shard sizes differ by one at most.
    Within a class the order is random, so that shards of one class are alike. McMahan et al.
    (2017), section 3.

    Raises
    ------
    ValueError
        If there are more shards than rows, or an argument is not allowed.
    """
    _, code = labels(label)
    count = clients_of(clients, code.size)
    shards = count * whole("shards_per_client", shards_per_client, 1)
    if shards > code.size:
        raise ValueError(
            f"clients x shards_per_client must be at most the number of rows ({code.size}), got "
            f"{shards}"
        )
    rng = generator(seed)
    mixed = rng.permutation(code.size)
    by_label = mixed[np.argsort(code[mixed], kind="stable")]
    shard = np.arange(code.size) * shards // code.size
    holder = rng.permutation(np.arange(shards) % count)
    owner = np.empty(code.size, dtype=np.int64)
    owner[by_label] = holder[shard]
    return owner
