"""Fewer rows or clients of a data set, drawn at random."""

from dataclasses import replace

import numpy as np

from fairfl.sims.data.federated import FederatedData


def some_rows(data: FederatedData, rows: int, seed: int) -> FederatedData:
    """``rows`` rows at random, all of them for the split; ValueError if there are fewer."""
    if rows > len(data):
        raise ValueError(f"data.rows must be at most {len(data)} for {data.name!r}, got {rows}")
    chosen = np.sort(np.random.default_rng(seed).permutation(len(data))[:rows])
    return replace(data.at(chosen), part=None)


def some_clients(data: FederatedData, count: int, min_rows: int, seed: int) -> FederatedData:
    """``count`` random clients with at least ``min_rows`` rows, in their order; or ValueError."""
    large = np.flatnonzero(data.sizes("all") >= min_rows)
    if count > len(large):
        raise ValueError(
            f"clients must be at most {len(large)}, those of {data.name!r} with {min_rows} rows, "
            f"got {count}"
        )
    chosen = np.sort(np.random.default_rng(seed).permutation(large)[:count])
    subset = data.at(np.flatnonzero(np.isin(data.owner, chosen)))
    owner, names = np.searchsorted(chosen, subset.owner), [data.client_names[k] for k in chosen]
    return replace(subset, owner=owner, n_clients=count, client_names=tuple(names))
