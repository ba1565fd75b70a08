"""Who is drawn twice counts twice: in every algorithm of the registry, and on average exactly."""

from dataclasses import dataclass, replace
from fractions import Fraction as Q
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
import pytest
import torch
from every_algorithm import AFL, EVERY, GIFAIR, DualWeighted, FedMGDA, PFedAvg
from federations import classified, quick, trained

from fairfl.sims.engine import ClientData, Participation, Parts, Softmax
from fairfl.sims.engine.losses import measure
from fairfl.theory.aggregation import RankWeighted

DATA = classified((8, 5, 9, 4), features=3).train
PARTS = [
    (DATA.x[a:b], DATA.y[a:b]) for a, b in zip(DATA.offsets[:-1], DATA.offsets[1:], strict=True)
]
P = (Q(1, 10), Q(2, 10), Q(3, 10), Q(4, 10))
ROUND = {"rounds": 2, "batch_size": None, "steps": 2, "momentum": 0.5}
COUNTING = [one for one in EVERY if not isinstance(one, AFL)]
COUNTING += [FedMGDA(0.02, normalize=False), GIFAIR(groups=(0, 1, 2, 0))]
"""FedMGDA where its box binds, and GIFAIR with a group of two clients."""
MODEL = Softmax(3, 3)
START = torch.randn(1, MODEL.size, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
"""Where all losses differ; at 0, where models start, they are all log 3."""
RANKS = [
    RankWeighted.gini(),
    RankWeighted.geometric(0.5),
    RankWeighted.geometric(1.0),
    RankWeighted.harmonic(),
    RankWeighted.cvar(0.5),
    RankWeighted((0.6, 0.3, 0.1)),
]


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
    twins = [of_twins(one, draws) for one in COUNTING]
    expected = simulated(twins, draws, [Q(1, len(draws))] * len(draws)).params
    found = simulated(COUNTING, participation=Drawn(draws)).params
    for one, own, other in zip(COUNTING, found, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-13, err_msg=repr(one))
        assert float(own.abs().max()) > 1e-3  # something moved


def of_twins(algorithm, draws):
    if not isinstance(algorithm, GIFAIR):
        return algorithm
    return replace(algorithm, groups=tuple((algorithm.groups or range(4))[k] for k in draws))


def test_afl_counts_its_clients_once():
    """As its docstring says: a client's weight is its lambda, not its draws."""
    found, expected = (
        simulated(AFL.examples(), participation=Drawn(draws)).params
        for draws in ((0, 0, 2), (0, 2))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def mean_weights(algorithm, ways):
    """Of each client in the first round, over ``ways``: pairs of a chance and a participation."""
    total = np.zeros(4)
    for chance, rule in ways:
        one = simulated([algorithm], participation=rule, rounds=0)
        one.params.copy_(START)
        one.step()
        clients, weights = one.weights[0]
        total[clients] += float(chance) * weights
    return total


def all_draws(count):
    """Of ``count`` clients by P with replacement, sorted, and their chances."""
    for drawn in combinations_with_replacement(range(4), count):
        orders = factorial(count) // prod(factorial(drawn.count(k)) for k in set(drawn))
        yield orders * prod(P[k] for k in drawn), Drawn(drawn)


def at_least(j, n, share):
    """P(Bin(n, share) >= j)."""
    return sum(comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(j, n + 1))


@pytest.mark.parametrize("make", [PFedAvg, DualWeighted], ids=lambda kind: kind.name)
@pytest.mark.parametrize("ranks", RANKS, ids=repr)
def test_mean_rank_weights_of_draws(ranks, make):
    """The j-th largest of m draws is client k where at least j draws are of losses >= F_k, and
    fewer of those > F_k.
    """
    losses = measure(MODEL, START[0], MODEL.prepare(DATA), np.arange(4)).means().numpy()
    larger, wanted = Q(0), np.zeros(4)
    for k in np.argsort(-losses):
        for j, v in enumerate(ranks.rank_weights(3), start=1):
            wanted[k] += v * float(at_least(j, 3, larger + P[k]) - at_least(j, 3, larger))
        larger += P[k]
    np.testing.assert_allclose(mean_weights(make(ranks), all_draws(3)), wanted, rtol=1e-12)
    if ranks == RankWeighted.geometric(1.0):
        np.testing.assert_allclose(wanted, [float(x) for x in P], rtol=1e-12)
