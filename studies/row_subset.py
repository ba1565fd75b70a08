"""Fewer rows or clients of a data set, drawn at random."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.federated import FederatedData


def some_rows(found: FederatedData, rows: int, seed: int) -> FederatedData:
    """``rows`` rows at random, all of them for the split; ValueError if there are fewer."""
    if rows > len(found):
        raise ValueError(f"data.rows must be at most {len(found)} for {found.name!r}, got {rows}")
    kept = np.sort(np.random.default_rng(seed).permutation(len(found))[:rows])
    return _kept(found, kept, np.zeros(rows, np.int8))


def some_clients(found: FederatedData, count: int, least: int, seed: int) -> FederatedData:
    """``count`` random clients with at least ``least`` rows, in their order; or ValueError."""
    large = np.flatnonzero(found.sizes("all") >= least)
    if count > len(large):
        raise ValueError(
            f"clients must be at most {len(large)}, those of {found.name!r} with {least} rows, "
            f"got {count}"
        )
    chosen = np.sort(np.random.default_rng(seed).permutation(large)[:count])
    kept = np.flatnonzero(np.isin(found.owner, chosen))
    part = None if found.part is None else found.part[kept]
    return dataclasses.replace(
        _kept(found, kept, part),
        owner=np.searchsorted(chosen, found.owner[kept]),
        n_clients=count,
        client_names=tuple(found.client_names[k] for k in chosen),
    )


def _kept(found: FederatedData, kept: NDArray[np.int64], part: Any) -> FederatedData:
    """These rows."""
    group = None if found.group is None else found.group[kept]
    return dataclasses.replace(
        found, x=found.x[kept], y=found.y[kept], owner=found.owner[kept], part=part, group=group
    )
