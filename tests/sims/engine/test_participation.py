"""Who takes part in a round: sizes, frequencies, groups, and what is unbiased for the mean."""

from fractions import Fraction as Q
from itertools import combinations, permutations, product

import numpy as np
import pytest
import torch
from every_algorithm import EVERY, FedAvg, QFedSGD
from federations import Masks, begun, classified, quick, trained

from fairfl.sims.engine import ByWeight, Exponential, Joining, Parts, Softmax, Steps, Uniform
from fairfl.sims.engine.draws import participation

MODEL, SIZES = Softmax(4, 3), (5, 17, 4, 9, 30, 8, 2)


def test_rates_of_dropouts_and_stragglers():
    ids = np.arange(20_000)
    assert participation.dropouts(0.3, 0, 0, ids).mean() == pytest.approx(0.3, abs=0.015)
    effort = participation.efforts(0.4, 0, 0, ids)
    assert (effort < 1).mean() == pytest.approx(0.4, abs=0.015)
    assert effort[effort < 1].mean() == pytest.approx(0.5, abs=0.02)
    assert not participation.dropouts(0.0, 0, 0, ids).any()
    assert participation.dropouts(1.0, 0, 0, ids).all()
    assert (participation.efforts(0.0, 0, 0, ids) == 1).all()


def test_counts_are_told():
    training = quick(participation=Uniform(6), dropout=0.5, stragglers=0.5, epochs=3)
    simulation = begun(MODEL, classified((8,) * 10), [FedAvg()], training)
    rows = [simulation.step()[0] for _ in range(20)]
    assert all(row["chosen"] == 6 and row["received"] == 6 - row["dropouts"] for row in rows)
    assert all(row["bytes_up"] == row["received"] * 15 * 8 for row in rows)
    assert 0 < sum(row["dropouts"] for row in rows) < 120
    assert sum(row["stragglers"] for row in rows) > 0
    full = [row for row in rows if row["stragglers"] == 0]
    assert all(row["steps"] == 6 * row["received"] for row in full)
    assert all(row["received"] <= row["steps"] <= 6 * row["received"] for row in rows)
    nobody = trained(MODEL, classified((8,) * 3), [FedAvg()], quick(dropout=1.0, rounds=2))
    assert float(nobody.params.abs().max()) == 0 and nobody.round == 2


def present(joining, rounds, clients, seed=0):
    """Who takes part, round by round."""
    p = np.arange(1.0, clients + 1)
    clients_of_round = []
    for t in range(rounds):
        chosen, weights = joining.choose(seed, t, np.arange(clients), p / p.sum())
        np.testing.assert_allclose(weights, p[chosen] / p[chosen].sum())
        clients_of_round.append(chosen.tolist())
    return clients_of_round


def test_rounds_by_hand():
    """Seven clients in three groups: 3, 2, 2. Nobody in round 0; group 1 alone in 1; all in 3."""
    joining = Joining((2, 1, 3), (5, 0, 4))
    assert joining.members(7).tolist() == [0, 0, 0, 1, 1, 2, 2]
    first, second, third = [0, 1, 2], [3, 4], [5, 6]
    both = first + second
    assert present(joining, 6, 7) == [[], second, both, both + third, both, second]
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
    for share, count in ((0.01, 1), (0.14, 2)):  # of 20: 2.8
        assert all(len(row) == count for row in present(Joining((0,), share=share), 5, 20))


def test_every_algorithm_takes_any_schedule():
    """Rounds with nobody change nothing; who joins in the last round takes part in it."""
    training = quick(rounds=6, lr=0.05, participation=Joining((1, 2, 5), (4, 3, 0)))
    simulation = begun(MODEL, classified(SIZES), EVERY, training)
    moved, received = [], []
    for _ in range(6):
        before = simulation.params.clone()
        received.append({row["received"] for row in simulation.step()})
        moved.append((simulation.params != before).any(1).tolist())
    assert received == [{0}, {3}, {5}, {3}, {0}, {2}]
    assert not any(moved[0]) and not any(moved[4]) and all(moved[1])
    # AFL's mixture may have nothing left for them
    assert all(there or rule.name == "afl" for rule, there in zip(EVERY, moved[5], strict=True))


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
    weights = mean_weights(Uniform(count), P, ways, by_keys)
    np.testing.assert_allclose(weights, floats(ratio), rtol=1e-12)
    assert (np.abs(weights - floats(P)).max() > 1e-3) == (count < K)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_by_weight_with_replacement_is_unbiased(count):
    """Every draw in the middle of a tenth, all 10^count: each tenth is one client's."""
    ways = [
        (Q(1, 10**count), [(d + 0.5) / 10 for d in digits])
        for digits in product(range(10), repeat=count)
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
    weights = mean_weights(ByWeight(count, replace=False), P, ways, by_uniforms)
    inside = [
        sum(chance(o) for o in permutations(range(K)) if k in o[:count]) / count for k in range(K)
    ]
    np.testing.assert_allclose(weights, floats(inside), rtol=1e-12)
    # the first draw alone is unbiased
    assert (np.abs(weights - floats(P)).max() > 1e-3) == (count > 1)


def ended(p, lost):
    """Parameters after a round in which the listed clients' updates are lost."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(
            participation, "dropouts", lambda rate, seed, round, ids: np.isin(ids, lost)
        )
        data = Parts(classified((3, 5, 2, 4)).train, weights=floats(p))
        return trained(MODEL, data, [FedAvg()], quick(rounds=1, dropout=0.5)).params[0].numpy()


def test_those_who_are_left_are_weighed_by_p_among_themselves():
    """All 15 ways to lose some of four unequal clients, but all."""
    alone = np.array([ended(P, [j for j in range(K) if j != k]) for k in range(K)])
    for lost in product((False, True), repeat=K):
        there = [k for k in range(K) if not lost[k]]
        if there:
            weights = floats(P)[there] / floats(P)[there].sum()
            moved = ended(P, np.flatnonzero(lost))
            np.testing.assert_allclose(moved, weights @ alone[there], rtol=1e-10, atol=1e-14)


def test_a_round_by_hand_with_its_rates_and_its_row():
    """A full gradient of two clients of three: lr 1/2, a tenth of it later, and half a step."""
    data, rule = classified((5, 17, 4)), Masks([True, False, True])
    schedules = {"schedule": Steps((1,), 0.1), "server_schedule": Exponential(0.5)}
    training = quick(rounds=2, lr=0.5, participation=rule, **schedules)
    simulation = begun(MODEL, data, [QFedSGD(0.0)], training)
    parts = [data.train.take([k]) for k in (0, 2)]
    for rate in (0.5, 0.025):
        w = simulation.params[0].clone().requires_grad_()
        losses = torch.stack([MODEL.reference(w, ones(part.x), part.y).mean() for part in parts])
        loss = (5 * losses[0] + 4 * losses[1]) / 9
        (slope,) = torch.autograd.grad(loss, w)
        (row,) = simulation.step()
        torch.testing.assert_close(simulation.params[0], w.detach() - rate * slope)
        assert row["step_norm"] == pytest.approx(rate * float(slope.norm()))
        assert row["mean_loss"] == pytest.approx(loss.item())
        assert row["max_loss"] == pytest.approx(losses.max().item())
        assert (row["loss_samples"], row["samples"], row["bytes_up"]) == (9, 9, 2 * (15 * 8 + 8))
    scores = ones(data.train.x) @ simulation.params[0].view(3, 5).T
    right = [part.mean() for part in (scores.argmax(1) == data.train.y).double().split([5, 17, 4])]
    np.testing.assert_allclose(simulation.evaluate()[0]["accuracy"], right)


def ones(x):
    return torch.cat([x, x.new_ones(len(x), 1)], 1)


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
                run = begun(MODEL, data, [FedAvg()], quick(steps=n, stragglers=1.0))
                seen.append(run.step()[0]["steps"])
        assert seen == list(range(1, n + 1))


def test_what_a_number_is_for_makes_it_another():
    """Dropouts, stragglers and efforts are independent: no two share a stream."""
    ids = np.arange(20_000)
    late = participation.efforts(0.5, 3, 1, ids)
    keys = participation.counter.key(3, participation.counter.PARTICIPATION, 1, ids)
    draws = [late < 1, participation.counter.uniforms(keys) < 0.5]
    draws += [participation.dropouts(0.5, *when, ids) for when in ((3, 1), (3, 2), (4, 1))]
    correlation = np.corrcoef(np.array(draws, float)) - np.eye(len(draws))
    assert np.abs(correlation).max() < 5 / len(ids) ** 0.5
