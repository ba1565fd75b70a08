"""Whom a round reaches, all ways enumerated: what is unbiased for the p-weighted mean."""

from fractions import Fraction as Q
from itertools import combinations, permutations, product

import numpy as np
import pytest
from federations import EXACT, classified, quick

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import (
    ByWeight,
    LeastSquares,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Uniform,
)
from fairfl.sims.engine.draws import participation

K = 4
P = (Q(1, 10), Q(2, 10), Q(3, 10), Q(4, 10))
EVEN = (Q(1, 4),) * 4
IDS = np.array([7, 0, 3, 5])


def floats(p):
    return np.array([float(x) for x in p])


def mean_weights(rule, p, ways, patch):
    """Mean of the weights (K,) over ``ways``, pairs of a chance and of what is patched in."""
    total = np.zeros(K)
    for chance, put in ways:
        with pytest.MonkeyPatch.context() as monkeypatch:
            patch(monkeypatch, put)
            chosen, weights, _ = participation.merged(*rule.choose(0, 0, IDS, floats(p)))
        total[chosen] += float(chance) * weights
    return total


def by_keys(monkeypatch, order):
    """Clients' random words in a given order: ``order[0]`` has the smallest."""
    keys = np.empty(K, np.uint64)
    keys[list(order)] = np.arange(K)
    monkeypatch.setattr(participation.counter, "key", lambda *words: keys)


def by_uniforms(monkeypatch, numbers):
    monkeypatch.setattr(participation.counter, "uniforms", lambda keys: np.array(numbers))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_uniform_is_unbiased_for_equal_clients_and_a_ratio_for_others(count):
    """All 24 orders of the clients' words, alike; against the mean over all sets by its formula."""
    ways = [(Q(1, 24), order) for order in permutations(range(K))]
    np.testing.assert_allclose(mean_weights(Uniform(count), EVEN, ways, by_keys), 0.25, rtol=1e-12)
    sets = list(combinations(range(K), count))
    ratio = [sum(P[k] / sum(P[j] for j in s) for s in sets if k in s) / len(sets) for k in range(K)]
    found = mean_weights(Uniform(count), P, ways, by_keys)
    np.testing.assert_allclose(found, floats(ratio), rtol=1e-12)
    assert (np.abs(found - floats(P)).max() > 1e-3) == (count < K)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_by_weight_with_replacement_is_unbiased(count):
    """Every draw in the middle of a tenth, all 10^count: each tenth is one client's."""
    ways = [
        (Q(1, 10**count), [(d + 0.5) / 10 for d in drawn])
        for drawn in product(range(10), repeat=count)
    ]
    np.testing.assert_allclose(
        mean_weights(ByWeight(count), P, ways, by_uniforms), floats(P), rtol=1e-12
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_by_weight_without_replacement_draws_in_succession_and_is_biased(count):
    """All 24 orders by their chances; u = exp(-p t) makes the times come in the order."""

    def chance(order):
        left, result = Q(1), Q(1)
        for k in order:
            result, left = result * P[k] / left, left - P[k]
        return result

    ways = []
    for order in permutations(range(K)):
        times = np.empty(K)
        times[list(order)] = np.arange(1, K + 1)
        ways.append((chance(order), np.exp(-floats(P) * times)))
    assert sum(c for c, _ in ways) == 1
    found = mean_weights(ByWeight(count, replace=False), P, ways, by_uniforms)
    inside = [
        sum(chance(o) for o in permutations(range(K)) if k in o[:count]) / count for k in range(K)
    ]
    np.testing.assert_allclose(found, floats(inside), rtol=1e-12)
    # the first draw alone is unbiased
    assert (np.abs(found - floats(P)).max() > 1e-3) == (count > 1)


def ended(p, lost, **changes):
    """Parameters after a round in which the listed clients' updates are lost."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(
            participation, "dropouts", lambda rate, seed, round, ids: np.isin(ids, lost)
        )
        data = Parts(classified((3, 5, 2, 4)).train, weights=floats(p))
        simulation = Simulation(
            Softmax(4, 3), data, [Replicate(FedAvg())], quick(rounds=1, **changes), EXACT
        )
        simulation.step()
    return simulation.params[0].numpy()


@pytest.mark.parametrize(("p", "unbiased"), [(EVEN, True), (P, False)], ids=["equal", "unequal"])
def test_dropouts_are_harmless_on_average_for_equal_clients_alone(p, unbiased):
    """All 16 ways; those who are left are weighed by p among themselves."""
    rate = Q(1, 3)
    alone = np.array([ended(p, [j for j in range(K) if j != k]) for k in range(K)])
    mean = np.zeros_like(alone[0])
    for lost in product((False, True), repeat=K):
        chance = float(rate ** sum(lost) * (1 - rate) ** (K - sum(lost)))
        there = [k for k in range(K) if not lost[k]]
        weights = floats(p)[there] / floats(p)[there].sum()
        moved = ended(p, [k for k in range(K) if lost[k]])
        np.testing.assert_allclose(moved, weights @ alone[there], rtol=1e-10, atol=1e-14)
        mean += chance * moved
    wanted = float(1 - rate**K) * floats(p) @ alone
    assert np.allclose(mean, wanted, rtol=1e-10, atol=1e-14) == unbiased


def test_a_straggler_does_any_number_of_its_steps_alike():
    """Efforts in the middles of n equal parts: 1, 2, ..., n steps, once each."""
    data = Parts(classified((9,)).train)
    for n in (1, 2, 5):
        seen = []
        for k in range(n):
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setattr(
                    participation, "efforts", lambda *words, k=k, n=n: np.array([(k + 0.5) / n])
                )
                simulation = Simulation(
                    Softmax(4, 3), data, [Replicate(FedAvg())], quick(steps=n), EXACT
                )
                (row,) = simulation.step()
            seen.append(row["steps"])
        assert seen == list(range(1, n + 1))


def test_momentum_starts_anew_for_whoever_takes_part():
    """One parameter by hand: v starts at 0 in every round, for everybody."""
    import torch

    from fairfl.sims.engine import ClientData, Given

    x = torch.ones(2, 1, dtype=torch.float64)
    data = Parts(ClientData(x, torch.tensor([1.0, 3.0], dtype=torch.float64), np.array([0, 1, 2])))
    masks = np.array([[True, True], [True, False], [True, True]])
    training = quick(
        rounds=3, lr=0.25, momentum=0.5, steps=2, batch_size=None, participation=Given(masks)
    )
    simulation = Simulation(
        LeastSquares(1, bias=False), data, [Replicate(FedAvg())], training, EXACT
    )
    w = Q(0)
    for mask in masks:
        ends = []
        for target in [t for t, there in zip((Q(1), Q(3)), mask, strict=True) if there]:
            own, v = w, Q(0)
            for _ in range(2):
                v = v / 2 + (own - target)
                own = own - v / 4
            ends.append(own)
        w = sum(ends) / len(ends)
        simulation.step()
        assert float(simulation.params[0, 0]) == pytest.approx(float(w), rel=1e-14)


def test_what_a_number_is_for_makes_it_another():
    """Dropouts, stragglers and efforts are independent: no two share a stream."""
    ids = np.arange(20_000)
    late = participation.efforts(0.5, 3, 1, ids)
    drawn = participation.counter.key(3, participation.counter.PARTICIPATION, 1, ids)
    draws = np.stack(
        [
            participation.dropouts(0.5, 3, 1, ids),
            late < 1,
            participation.counter.uniforms(drawn) < 0.5,
            participation.dropouts(0.5, 3, 2, ids),
            participation.dropouts(0.5, 4, 1, ids),
        ]
    ).astype(float)
    correlation = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(correlation).max() < 5 / len(ids) ** 0.5
