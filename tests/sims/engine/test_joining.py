"""Who takes part where groups join and leave."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from federations import EXACT, classified, quick, trained

from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Given, Joining, Parts, Replicate, Simulation, Softmax

MODEL, SIZES = Softmax(4, 3), (5, 17, 4, 9, 30, 8, 2)
EVERY = [one for kind in algorithms().values() for one in kind.examples()]


def present(joining, rounds, clients, seed=0):
    """Who takes part, round by round."""
    p = np.arange(1.0, clients + 1)
    found = []
    for t in range(rounds):
        chosen, weights = joining.choose(seed, t, np.arange(clients), p / p.sum())
        np.testing.assert_allclose(weights, p[chosen] / p[chosen].sum())
        found.append(chosen.tolist())
    return found


def test_rounds_by_hand():
    """Seven clients in three groups: 3, 2, 2. Nobody in round 0; group 1 alone in 1; all in 3."""
    joining = Joining((2, 1, 3), (5, 0, 4))
    assert joining.members(7).tolist() == [0, 0, 0, 1, 1, 2, 2]
    first, second, third = [0, 1, 2], [3, 4], [5, 6]
    assert present(joining, 6, 7) == [
        [],
        second,
        first + second,
        first + second + third,
        first + second,
        second,
    ]
    assert [joining.joined(t) for t in range(5)] == [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3)]
    assert present(Joining((0, 0, 4)), 5, 7)[3:] == [[0, 1, 2, 3, 4], [*range(7)]]
    assert Joining((0, 0)).joined(9) == (0,)
    alone = Joining((0, 1), groups=(0, 1, 0))
    assert present(alone, 2, 3) == [[0, 2], [0, 1, 2]]
    assert present(Joining((0,), (2,)), 4, 3) == [[0, 1, 2], [0, 1, 2], [], []]


def test_a_share_of_those_who_are_there():
    """max(C n, 1), rounded down, of n; every one as often as another."""
    joining = Joining((0, 3), share=0.29)
    rounds = [set(row) for s in range(300) for row in present(joining, 4, 200, s)[2:]]
    assert {len(row) for row in rounds} == {29, 58}  # 0.29 * 100 is 28.999999999999996
    counts = np.bincount([k for row in rounds for k in row], minlength=200)
    # the first hundred: 600 rounds at 0.29; the others 300; five standard deviations
    assert np.abs(counts[:100] - 174).max() < 56 and np.abs(counts[100:] - 87).max() < 40
    assert all(len(row) == 1 for row in present(Joining((0,), share=0.01), 5, 20))


@pytest.mark.parametrize("algorithm", EVERY, ids=repr)
def test_every_algorithm_takes_any_schedule(algorithm):
    """Rounds with nobody change nothing; who joins in the last round takes part in it."""
    data = classified(SIZES)
    training = quick(rounds=6, lr=0.05, participation=Joining((1, 2, 5), (4, 3, 0)))
    simulation = Simulation(MODEL, data, [Replicate(algorithm)], training, EXACT)
    moved, received = [], []
    for _ in range(6):
        before = simulation.params.clone()
        received.append(simulation.step()[0]["received"])
        moved.append(not torch.equal(before, simulation.params))
    assert not moved[0] and not moved[4] and moved[1]
    assert moved[5] or algorithm.name == "afl"  # whose mixture may have nothing left for them
    assert received == [0, 3, 5, 3, 0, 2]


def test_a_schedule_is_masks():
    data = classified(SIZES)
    masks = np.array([[True] * 3 + [False] * 4, [True] * 3 + [False] * 4, [True] * 7])
    both = [
        trained(MODEL, data, [FedAvg()], quick(rounds=3, participation=p)).params
        for p in (Joining((0, 2), groups=(0, 0, 0, 1, 1, 1, 1)), Given(masks))
    ]
    assert torch.equal(*both)


def test_the_order_of_the_clients():
    data, order = classified(SIZES), np.random.default_rng(1).permutation(7)
    groups = (0, 0, 1, 1, 0, 2, 2)
    training = quick(rounds=6, participation=Joining((0, 2, 4), groups=groups, share=0.6))
    moved = Joining((0, 2, 4), groups=tuple(groups[k] for k in order), share=0.6)
    one = trained(MODEL, data, [FedAvg()], training).params
    other = Parts(data.train.take(order))
    two = trained(MODEL, other, [FedAvg()], replace(training, participation=moved)).params
    np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
