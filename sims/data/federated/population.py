"""Samples of a federation: what theory and simulation share."""

import numpy as np

from fairfl._support.checks import whole
from fairfl.sims.data.checks import generator
from fairfl.sims.data.federated.data import FederatedData
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation


def sample(federation: Federation, rows: int, seed: int = 0) -> FederatedData:
    """Draw (client, group, x, y): i by weight, a | i by share, x | a, i from its law, y | x, a, i ~
    Bern(eta); x has shape (rows, 1), ``group`` is the sensitive attribute, all rows are for
    training.
    """
    n = whole("rows", rows, 1)
    rng = generator(seed)
    owner = rng.choice(federation.n_clients, size=n, p=federation.weight)
    edges = np.cumsum(federation.share, axis=1)[:, :-1]
    group = (rng.random(n)[:, None] >= edges[owner]).sum(axis=1)
    x, chance = np.empty(n), np.empty(n)
    model = federation.model
    for i in range(federation.n_clients):
        for a in range(federation.n_groups):
            cell = np.flatnonzero((owner == i) & (group == a))
            if cell.size == 0:
                continue
            if isinstance(model, ContinuousModel):
                x[cell] = model.laws[i][a].draw(cell.size, rng)
                chance[cell] = model.etas[i][a](x[cell])
            else:
                atoms = rng.choice(model.points.size, size=cell.size, p=model.conditional[i, a])
                x[cell], chance[cell] = model.points[atoms], model.eta[i, a, atoms]
    label = (rng.random(n) < chance).astype(np.int64)
    return FederatedData(
        "population",
        x[:, None],
        label,
        owner,
        federation.n_clients,
        group=group,
        note=f"{federation!r}, seed {seed}",
    )
