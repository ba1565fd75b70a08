"""Group-fair algorithms do not depend on the order in which the data list the clients."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from grouped import people, run

from fairfl.sims.engine import ByWeight, ClientData, Joining, Logistic, Parts, Uniform
from fairfl.sims.engine.secure_sums import SUM_ONLY
from fairfl.sims.group_fairness import AgnosticFair, FairBatch, FairFed, FedFB, LocalFairBatch

pytestmark = pytest.mark.exact

RULES = [FairBatch(notion, 0.2) for notion in ("dp", "eo", "eodds")]
CLIENTS_ALONE = [FairBatch("cp", 0.2), FairBatch("cp", 0.2, surrogate="acceptance")]
BUDGETED = FairBatch("dp", 0.2, surrogate="zero_one", budget=0.05, projection="sum")
BUDGETS = (0.0, 0.3, 0.1, 0.02)
SETTINGS = {
    "fedfb": [
        *map(FedFB, [*RULES, *CLIENTS_ALONE, BUDGETED]),
        *(FedFB(rule, every=2, evaluated="local") for rule in (RULES[0], CLIENTS_ALONE[0])),
        *(FedFB(rule, bits=8) for rule in (RULES[1], CLIENTS_ALONE[0])),
    ],
    "fairfed": [FairFed(), FairFed(0.3, "eo"), FairFed(0.3, "dp", "none")],
    "lft": [
        *(LocalFairBatch(rule, period) for rule in RULES for period in (None, 1, 2)),
        *(LocalFairBatch(BUDGETED, period, BUDGETS) for period in (None, 1, 3)),
    ],
}
"""Settings in which an algorithm is tested; of the others, a new one too, its defaults."""
EVERY = [rule for name, kind in SUM_ONLY.items() for rule in SETTINGS.get(name, [kind()])]
IDS = np.array([3, 4, 11, 70])


def federation(order):
    """Clients 3, 4, 11 and 70, listed in this order; the last one has one group's people alone."""
    parts = people((7, 11, 5, 9))
    data, p = parts.train, np.array([0.1, 0.4, 0.2, 0.3])
    group = data.group.copy()
    group[data.offsets[3] :] = 1
    data = ClientData(data.x, data.y, data.offsets, IDS, group)
    return Parts(data.take(order), data.take(order), weights=p[list(order)])


def listed(algorithm, order):
    """The algorithm with its options of single clients in the order of the data."""
    budgets = getattr(algorithm, "budgets", None)
    if budgets is None:
        return algorithm
    return replace(algorithm, budgets=tuple(budgets[k] for k in order))


def by_id(order, algorithm, **training):
    """What a run ends with: the global model, and the loss of every client by id and model."""
    simulation, _ = run(federation(order), listed(algorithm, order), 5, batch_size=8, **training)
    rows = simulation.evaluate()
    losses = np.concatenate([row["loss"][np.argsort(row["client"])] for row in rows])
    return np.append(simulation.params[0], losses)


@pytest.mark.parametrize("algorithm", EVERY, ids=repr)
def test_clients_in_any_order(algorithm):
    expected, params = by_id(range(4), algorithm), by_id((2, 3, 1, 0), algorithm)
    np.testing.assert_allclose(params, expected, atol=1e-9)


@pytest.mark.parametrize("draw", [Uniform(3), ByWeight(3), Joining((0,), share=0.6)], ids=repr)
@pytest.mark.parametrize("algorithm", [rule for rule in EVERY if not rule.complete], ids=repr)
@pytest.mark.every(2)
def test_some_clients_in_any_order(algorithm, draw):
    expected = by_id(range(4), algorithm, participation=draw, stragglers=0.4)
    for order in ((3, 1, 0, 2), (2, 3, 1, 0)):
        params = by_id(order, algorithm, participation=draw, stragglers=0.4)
        np.testing.assert_allclose(params, expected, atol=1e-9)


def test_agnostic_fair_in_any_order():
    fits = [
        AgnosticFair().fit(Logistic(2), federation(order), 8, 0.2)[0]
        for order in (range(4), (3, 1, 0, 2))
    ]
    torch.testing.assert_close(fits[0].params, fits[1].params, rtol=0, atol=1e-9)
