"""Which rows FedFB's published code trains and tests on in table 6: its groups, and its clients draw for draw."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from fairfl.sims.data.fetch import locate
from fairfl.sims.data.tables import compas, load
from fairfl.sims.data.tables.adult import NUMERIC as ADULT_NUMERIC
from fairfl.sims.data.tables.compas import NUMERIC as COMPAS_NUMERIC
from fairfl.sims.engine.task import Floats
from fairfl.studies.papers.fedfb.code_data import CodeRows, Rows, scaled
from fairfl.studies.papers.fedfb.data import DIRICHLET, LEVELS

SEED = 1
CLIENTS = 5
FIXED = {
    0.1: ((269, 615), (128, 29839), (418, 74), (43, 392), (4196, 203)),
    10.0: ((1505, 3585), (876, 5695), (978, 7261), (601, 5848), (1094, 8734)),
}
"""Adult: people of other races and White people whom each client draws, as the code has them; at 0.1 the others come
first, at 10 White people.
"""
LEAST = 100
"""White people whom a client of Adult draws at least, at the other levels."""


def compas_clients(male: Rows, female: Rows, levels: Sequence[float] = LEVELS) -> dict[float, tuple[Rows, ...]]:
    """Rows of each client by level: a draw of Dirichlet(α, α) a client, of which the first share is its part of the
    men and the second of the women, drawn with replacement: shares of a group do not sum to 1 over the clients.
    """
    stream, shuffler = np.random.RandomState(SEED), random.Random(SEED)
    found = {}
    for level in levels:
        owned = []
        for _ in range(CLIENTS):
            shares = stream.dirichlet((level, level))
            parts = [
                stream.choice(rows, int(share * len(rows)), replace=True)
                for share, rows in zip(shares, (male, female), strict=True)
            ]
            owned.append(np.concatenate(parts))
        found[level] = _shuffled(owned, shuffler)
    return found


def adult_clients(white: Rows, others: Rows) -> dict[float, tuple[Rows, ...]]:
    """The same of Adult. At 0.1 and 10 the counts are ``FIXED``; elsewhere one share is a client's part of *both*
    groups, so that its clients differ in size and not in their mix of groups.
    """
    stream, shuffler = np.random.RandomState(SEED), random.Random(SEED)
    found = {}
    for level in (0.1, 0.2, 0.5, 10.0, 5000.0):
        owned = []
        for k in range(CLIENTS):
            if level in FIXED:
                other, some = FIXED[level][k]
                kinds = [(others, other), (white, some)] if level == 0.1 else [(white, some), (others, other)]
            else:
                share = stream.dirichlet((level, level))[0]
                kinds = [(white, max(int(share * len(white)), LEAST)), (others, int(share * len(others)))]
            owned.append(np.concatenate([stream.choice(rows, count, replace=True) for rows, count in kinds]))
        found[level] = _shuffled(owned, shuffler)
    return found


def _shuffled(owned: list[Rows], shuffler: random.Random) -> tuple[Rows, ...]:
    for rows in owned:
        shuffler.shuffle(rows)  # type: ignore[arg-type]  # an array is a mutable sequence to it
    return tuple(owned)


@lru_cache(maxsize=1)
def _compas() -> tuple[Floats, Rows, Rows, Rows, dict[float, tuple[Rows, ...]]]:
    """Features with race apart and sex last, labels, groups (1: men), the test rows, and clients by level."""
    table = load("compas", groups="sex")
    race = pd.get_dummies(compas.read(locate([compas.FILE], None, None))["race"]).to_numpy(np.float64)
    x = np.column_stack([table.features[:, :-1], race, table.group.astype(np.float64)])
    x[:, : len(COMPAS_NUMERIC)] = scaled(x[:, : len(COMPAS_NUMERIC)])
    train = np.flatnonzero(~table.is_test)
    clients = compas_clients(train[table.group[train] == 1], train[table.group[train] == 0])
    return x, table.label, table.group, np.flatnonzero(table.is_test), clients


@lru_cache(maxsize=1)
def _adult() -> tuple[Floats, Rows, Rows, Rows, dict[float, tuple[Rows, ...]]]:
    """Features with sex in race's place and White last; otherwise the same (1: White)."""
    table = load("adult")
    names = list(table.feature_names)
    race = [k for k, name in enumerate(names) if name.startswith("race=")]
    sex, white = table.features[:, names.index("sex")], table.features[:, names.index("race=White")]
    x = np.column_stack([table.features[:, : race[0]], 1 - sex, sex, table.features[:, race[-1] + 1 : -1], white])
    test = np.flatnonzero(table.is_test)
    train = np.flatnonzero(~table.is_test)
    for rows in (train, test):
        x[rows, : len(ADULT_NUMERIC)] = scaled(x[rows, : len(ADULT_NUMERIC)])
    group = white.astype(np.int64)
    return x, table.label, group, test, adult_clients(train[group[train] == 1], train[group[train] == 0])


def code_rows(dataset: str) -> CodeRows:
    """Of one of ``DIRICHLET``."""
    base, level = DIRICHLET[dataset]
    x, y, group, test, clients = (_adult if base == "Adult" else _compas)()
    train = np.setdiff1d(np.arange(len(y)), test)
    return CodeRows(x, y, group, clients[level], train, test)
