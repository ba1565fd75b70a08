"""Which rows FedFB's published code trains, judges and tests on, in its order: its draws, its splits and its scales."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl._support.checks import one_of
from fairfl.sims.data.federated.fedfb_synthetic import PUBLISHED_SEED, fedfb_synthetic
from fairfl.sims.data.tables import load
from fairfl.sims.data.tables.adult import NUMERIC as ADULT_NUMERIC
from fairfl.sims.data.tables.adult import SHARE_OTHER, SHARE_PRIVATE
from fairfl.sims.data.tables.bank import NUMERIC as BANK_NUMERIC
from fairfl.sims.data.tables.bank import SHARE_UP_TO
from fairfl.sims.data.tables.compas import NUMERIC as COMPAS_NUMERIC
from fairfl.sims.data.tables.table import Dataset
from fairfl.sims.engine.task import Floats

Rows = NDArray[np.int64]

DRAW = 1
"""The code's seed for the clients of Adult, and for the rows and clients of Bank."""
THREE = ((0.5, 0.2), (0.3, 0.4), (0.2, 0.4))
"""Shares of group 1 and of group 0 that three clients get."""
LOW = ((0.33, 0.33), (0.33, 0.33), (0.34, 0.34))
OVERLAPPING = {2: ((0.6, 0.2), (0.4, 0.8)), 4: ((0.2, 0.2), (0.2, 0.2), (0.2, 0.2), (0.4, 0.4))}
"""Shares of group 0 and of group 1 of two and four clients: every client's begin at the first row, and the last has
all rows.
"""
NAMES = ("Synthetic", "Synthetic, low", "Synthetic, 2 clients", "Synthetic, 4 clients", "Adult", "COMPAS", "Bank")


@dataclass(frozen=True, eq=False)
class CodeRows:
    """People x (n, d), labels y (n,), groups a (n,); rows of each client, of all who train, and of the test."""

    x: Floats
    y: Rows
    a: Rows
    clients: tuple[Rows, ...]
    train: Rows
    test: Rows


def code_rows(name: str) -> CodeRows:
    """The code's rows of one of ``NAMES``. Errors: as ``sims.data.tables.load``, and ValueError for another name."""
    one_of("data", name, NAMES)
    return {"Adult": _adult, "COMPAS": _compas, "Bank": _bank}[name]() if name in BASES else _synthetic(name)


BASES = ("Adult", "COMPAS", "Bank")


def _synthetic(name: str) -> CodeRows:
    clients = int(name.split()[1]) if name.endswith("clients") else 3
    data = fedfb_synthetic(clients, seed=0, published=True)
    assert data.group is not None
    assert data.part is not None
    train, test = np.flatnonzero(data.part != 2), np.flatnonzero(data.part == 2)
    ones, zeros = (train[data.group[train] == a] for a in (1, 0))
    if clients == 3:
        owned = disjoint(ones, zeros, LOW if name.endswith("low") else THREE)
    else:
        owned = overlapping(zeros, ones, OVERLAPPING[clients])
    stream = random.Random(PUBLISHED_SEED)
    for rows in owned:
        stream.shuffle(rows)  # type: ignore[arg-type]  # an array is a mutable sequence to it
    return CodeRows(data.x, data.y, data.group, tuple(owned), train, test)


def disjoint(first: Rows, second: Rows, shares: Sequence[tuple[float, float]]) -> list[Rows]:
    """Client k's rows of two groups: those from its share's begin to its end, begins summed and then rounded down."""
    owned, begins = [], [0, 0]
    for k, _ in enumerate(shares):
        ends = [int(sum(share[g] for share in shares[: k + 1]) * len(rows)) for g, rows in enumerate((first, second))]
        if k == len(shares) - 1:
            ends = [len(first), len(second)]
        owned.append(np.concatenate([first[begins[0] : ends[0]], second[begins[1] : ends[1]]]))
        begins = ends
    return owned


def overlapping(first: Rows, second: Rows, shares: Sequence[tuple[float, float]]) -> list[Rows]:
    """As the code of two and four clients: no begin moves, so that every client has the first rows, the last all."""
    ends = [(int(one * len(first)), int(other * len(second))) for one, other in shares[:-1]]
    return [np.concatenate([first[:one], second[:other]]) for one, other in (*ends, (len(first), len(second)))]


def _adult() -> CodeRows:
    """Numbers scaled in the test file by its own range; the first client's private employees before its others."""
    table = load("adult", seed=DRAW)
    train, test = np.flatnonzero(~table.is_test), np.flatnonzero(table.is_test)
    private = table.features[:, table.feature_names.index("workclass=Private")] == 1
    stream, chosen = np.random.RandomState(DRAW), []
    for kind, share in ((private, SHARE_PRIVATE), (~private, SHARE_OTHER)):
        rows = train[kind[train]]
        chosen.append(stream.choice(rows, int(share * len(rows)), replace=False))
    first = np.concatenate(chosen)
    clients = (first, np.setdiff1d(train, first))
    return _rows(table, len(ADULT_NUMERIC), (train, test), clients, train, test)


def _compas() -> CodeRows:
    """Clients' rows in the file's order, numbers scaled over the whole file."""
    table = load("compas", groups="all")
    train, test = np.flatnonzero(~table.is_test), np.flatnonzero(table.is_test)
    clients = tuple(train[table.client[train] == k] for k in (0, 1))
    return _rows(table, len(COMPAS_NUMERIC), (np.arange(len(table.label)),), clients, train, test)


def _bank() -> CodeRows:
    """Rows shuffled, then the clients' again by the same stream; numbers scaled over the whole file."""
    table = load("bank", groups="all", seed=DRAW)
    n = len(table.label)
    stream = np.random.RandomState(DRAW)
    order = stream.choice(n, n, replace=False)
    train, test = order[~table.is_test[order]], order[table.is_test[order]]
    free = table.features[:, table.feature_names.index("loan=no")] == 1
    kinds = [train[free[train]], train[~free[train]]]
    cuts = [
        [int(share * len(rows)) for share in SHARE_UP_TO[loan]] for rows, loan in zip(kinds, ("no", "yes"), strict=True)
    ]
    parts = [np.split(rows, ends) for rows, ends in zip(kinds, cuts, strict=True)]
    clients = [np.concatenate([part[k] for part in parts]) for k in range(3)]
    for rows in clients:
        stream.shuffle(rows)
    return _rows(table, len(BANK_NUMERIC), (np.arange(n),), tuple(clients), train, test)


def _rows(
    table: Dataset, numeric: int, ranges: Sequence[Rows], clients: tuple[Rows, ...], train: Rows, test: Rows
) -> CodeRows:
    """With the first ``numeric`` columns scaled to [0, 1] over each of ``ranges``."""
    x = np.array(table.features)
    for rows in ranges:
        x[rows, :numeric] = scaled(x[rows, :numeric])
    return CodeRows(x, table.label, table.group, clients, train, test)


def scaled(values: Floats) -> Floats:
    """(v - min) / (max - min) by column; a column that is constant becomes 0."""
    low, width = values.min(0), np.ptp(values, 0)
    return (values - low) / np.where(width > 0, width, 1.0)
