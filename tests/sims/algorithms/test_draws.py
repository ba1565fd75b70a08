"""Who is drawn twice counts twice, in every algorithm of the registry."""

from dataclasses import dataclass, replace
from fractions import Fraction as Q

import numpy as np
import pytest
from every_algorithm import AFL, EVERY, GIFAIR, SHOWN, FedMGDA
from federations import classified, quick, trained

from fairfl.sims.engine import ClientData, Participation, Parts, Softmax

DATA = classified((8, 5, 9, 4), features=3).train
PARTS = [
    (DATA.x[a:b], DATA.y[a:b]) for a, b in zip(DATA.offsets[:-1], DATA.offsets[1:], strict=True)
]
P = (Q(1, 10), Q(2, 10), Q(3, 10), Q(4, 10))
ROUND = {"rounds": 2, "batch_size": None, "steps": 2, "momentum": 0.5}
COUNTING = [rule for rule in EVERY if not isinstance(rule, AFL)]
COUNTING += [FedMGDA(0.02, normalize=False), GIFAIR(groups=(0, 1, 2, 0))]
"""FedMGDA where its box binds, and GIFAIR with a group of two clients."""
MODEL = Softmax(3, 3)


@dataclass(frozen=True)
class Drawn(Participation):
    """The same draws in every round, weighed alike."""

    clients: tuple[int, ...]

    def choose(self, seed, round, ids, p):
        return np.array(self.clients), np.full(len(self.clients), 1 / len(self.clients))


def simulated(algorithms, clients=(0, 1, 2, 3), weights=P, rounds=2, **changes):
    parts = ClientData.from_clients([PARTS[k] for k in clients])
    data = Parts(parts, weights=np.array([float(x) for x in weights]))
    return trained(MODEL, data, algorithms, quick(**ROUND | changes), rounds=rounds)


@pytest.mark.parametrize("draws", [(0, 0, 2), (0, 1, 3, 3), (1, 1, 1, 3, 3), (2, 2)], ids=str)
def test_who_is_drawn_twice_counts_as_two(draws):
    """Against a federation with twins where a client is drawn twice. Twins are one group."""
    twins = [of_twins(rule, draws) for rule in COUNTING]
    expected = simulated(twins, draws, [Q(1, len(draws))] * len(draws)).params
    params = simulated(COUNTING, participation=Drawn(draws)).params
    for rule, row, twin_row in zip(COUNTING, params, expected, strict=True):
        np.testing.assert_allclose(row, twin_row, rtol=1e-9, atol=1e-13, err_msg=repr(rule))
        assert float(row.abs().max()) > 1e-3  # something moved


def of_twins(algorithm, draws):
    if not isinstance(algorithm, GIFAIR):
        return algorithm
    return replace(algorithm, groups=tuple((algorithm.groups or range(4))[k] for k in draws))


def test_afl_counts_its_clients_once():
    """As its docstring says: a client's weight is its lambda, not its draws."""
    params, expected = (
        simulated(SHOWN[AFL], participation=Drawn(draws)).params for draws in ((0, 0, 2), (0, 2))
    )
    np.testing.assert_allclose(params, expected, rtol=1e-12)
