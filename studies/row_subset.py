"""Fewer rows of a data set, drawn at random."""

from __future__ import annotations

import dataclasses

import numpy as np

from fairfl.sims.data.federated import FederatedData


def some_rows(found: FederatedData, rows: int, seed: int) -> FederatedData:
    """``rows`` rows at random, all of them for the split to part; ValueError where there are not so
    many.
    """
    if rows > len(found):
        raise ValueError(f"data.rows must be at most {len(found)} for {found.name!r}, got {rows}")
    kept = np.sort(np.random.default_rng(seed).permutation(len(found))[:rows])
    group = None if found.group is None else found.group[kept]
    return dataclasses.replace(
        found,
        x=found.x[kept],
        y=found.y[kept],
        owner=found.owner[kept],
        part=np.zeros(rows, np.int8),
        group=group,
    )
