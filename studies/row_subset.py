"""Fewer rows or clients of a data set, drawn at random."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.federated import FederatedData


def some_rows(data: FederatedData, rows: int, seed: int) -> FederatedData:
    """``rows`` rows at random, all of them for the split; ValueError if there are fewer."""
    if rows > len(data):
        raise ValueError(f"data.rows must be at most {len(data)} for {data.name!r}, got {rows}")
    chosen = np.sort(np.random.default_rng(seed).permutation(len(data))[:rows])
    return _with_rows(data, chosen, np.zeros(rows, np.int8))


def some_clients(data: FederatedData, count: int, min_rows: int, seed: int) -> FederatedData:
    """``count`` random clients with at least ``min_rows`` rows, in their order; or ValueError."""
    large = np.flatnonzero(data.sizes("all") >= min_rows)
    if count > len(large):
        raise ValueError(
            f"clients must be at most {len(large)}, those of {data.name!r} with {min_rows} rows, "
            f"got {count}"
        )
    chosen = np.sort(np.random.default_rng(seed).permutation(large)[:count])
    row_numbers = np.flatnonzero(np.isin(data.owner, chosen))
    part = None if data.part is None else data.part[row_numbers]
    return dataclasses.replace(
        _with_rows(data, row_numbers, part),
        owner=np.searchsorted(chosen, data.owner[row_numbers]),
        n_clients=count,
        client_names=tuple(data.client_names[k] for k in chosen),
    )


def _with_rows(
    data: FederatedData, row_numbers: NDArray[np.int64], part: NDArray[np.int8] | None
) -> FederatedData:
    """These rows."""
    group = None if data.group is None else data.group[row_numbers]
    return dataclasses.replace(
        data,
        x=data.x[row_numbers],
        y=data.y[row_numbers],
        owner=data.owner[row_numbers],
        part=part,
        group=group,
    )
