"""The data of FedFB's experiments, with part of the training rows for validation."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from fairfl._support.checks import one_of
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.fedfb_synthetic import fedfb_synthetic
from fairfl.sims.data.federated.split_people import federated
from fairfl.sims.data.partition import dirichlet
from fairfl.sims.data.tables import Dataset, load
from fairfl.sims.engine import ClientData, Parts

VALIDATION = 0.2
"""Share of each client's training rows held out to choose hyper-parameters on."""
SYNTHETIC = {
    "Synthetic": (3, "medium"),
    "Synthetic, low": (3, "low"),
    "Synthetic, high": (3, "high"),
    "Synthetic, 2 clients": (2, "medium"),
    "Synthetic, 4 clients": (4, "medium"),
}
REAL = {"Adult": "adult", "COMPAS": "compas", "Bank": "bank"}
DRAW = 0
"""The seed of the one draw and split of the data: seeds are of initialisations and minibatches."""


LEVELS = (0.1, 0.2, 0.5, 10.0, 5000.0)
"""Concentrations of table 6."""
DIRICHLET = {
    f"{name}, {level:g}": (name, level) for name in ("Adult", "COMPAS") for level in LEVELS
}
"""Table 6: five clients; groups as published, Adult's White and others, COMPAS's the sexes."""
DIRICHLET_CLIENTS, LEAST = 5, 20


@lru_cache(maxsize=4)  # the schedules of a table ask for the same data, which are read-only
def fedfb_data(name: str, draw: int = DRAW) -> FederatedData:
    """One of ``SYNTHETIC``, ``REAL`` or ``DIRICHLET`` by its name in tables; COMPAS with 4 groups,
    Bank with 5.

    Errors: as ``fairfl.sims.data.tables.load``, and ValueError for another name.
    """
    one_of("data", name, (*SYNTHETIC, *REAL, *DIRICHLET))
    if name in SYNTHETIC:
        clients, heterogeneity = SYNTHETIC[name]
        data = fedfb_synthetic(clients, heterogeneity, seed=draw, published=True)
    else:
        base, level = DIRICHLET.get(name, (name, None))
        table = (
            load(REAL[base], groups="all", seed=1 if base == "Adult" else draw)
            if level is None
            else _with_group_feature(base)
        )
        data = replace(federated(table, 2 * table.is_test), name=name)
        if level is not None:
            data = data.assigned(
                dirichlet(table.group, DIRICHLET_CLIENTS, level, min_size=LEAST, seed=draw)
            )
    return held_out(data, draw)


def _with_group_feature(base: str) -> Dataset:
    """Table 6's people, a column of the features telling the group."""
    if base == "Adult":
        table = load("adult")
        white = table.features[:, table.feature_names.index("race=White")].astype(np.int64)
        return replace(table, group=white, group_names=("other", "White"))
    table = load("compas", groups="sex")
    features = np.column_stack([table.features, table.group.astype(np.float64)])
    return replace(table, features=features, feature_names=(*table.feature_names, "sex"))


def held_out(data: FederatedData, seed: int) -> FederatedData:
    """The same with round(VALIDATION n) of each client's, group's and label's rows held out."""
    assert data.part is not None
    assert data.group is not None
    rng, part = np.random.default_rng([seed, 11]), np.array(data.part)
    cell = (data.owner * (data.group.max() + 1) + data.group) * 2 + data.y
    for code in np.unique(cell):
        rows = rng.permutation(np.flatnonzero((cell == code) & (part == 0)))
        part[rows[: int(np.rint(VALIDATION * len(rows)))]] = 1
    return replace(data, part=part)


def pooled(parts: Parts) -> Parts:
    """All clients' people as one client's: the data of CFL."""
    merged = {}
    for name, data in parts.parts.items():
        merged[name] = ClientData(data.x, data.y, np.array([0, len(data.x)]), group=data.group)
    return Parts(**merged)
