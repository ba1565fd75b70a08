"""Minibatch orders and numbers by counter: permutations, whatever is drawn beside them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairfl.sims.engine import ClientData, plan
from fairfl.sims.engine.draws import counter, order
from fairfl.sims.engine.task import Jobs


def orders(keys, *passes):
    return order.orders(keys, order.Passes.of(*passes))


def alone(key, size, number, shuffled=True):
    n = np.array([1])
    return orders(np.array([key], np.uint64), size * n, number * n, n, np.array([shuffled]))


@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.integers(0, 5), st.integers(0, 3), st.booleans()),
        min_size=1,
        max_size=8,
    ),
    st.integers(0, 2**64 - 9),
    st.booleans(),
)
def test_any_company_gives_the_same_permutations(jobs, seed, same_size):
    keys = np.arange(len(jobs), dtype=np.uint64) + np.uint64(seed)
    sizes, first, passes = (np.array(column) for column in list(zip(*jobs, strict=True))[:3])
    sizes = np.where(same_size, sizes[0], sizes)
    shuffled = np.array([job[3] for job in jobs])
    together = orders(keys, sizes, first, passes, shuffled)
    there = order.device_orders(
        keys, order.Passes.of(sizes, first, passes, shuffled), sizes * 0 + 7, torch.device("cpu")
    )
    np.testing.assert_array_equal(there.numpy(), together + 7)
    pieces = [
        alone(keys[j], sizes[j], number, shuffled[j])
        for j in range(len(jobs))
        for number in range(first[j], first[j] + passes[j])
    ]
    np.testing.assert_array_equal(together, np.concatenate([*pieces, np.zeros(0, int)]))
    for piece in pieces:
        np.testing.assert_array_equal(np.sort(piece), np.arange(len(piece)))
    np.testing.assert_array_equal(alone(5, 7, 3, shuffled=False), np.arange(7))


def test_many_clients_with_many_samples_are_sorted_in_halves():
    """2^17 segments and samples up to 2^16 need 33 bits beside the random: it splits."""
    sizes = np.ones(1 << 17, int)
    sizes[5] = (1 << 16) - 1
    keys = np.arange(len(sizes), dtype=np.uint64)
    got = orders(keys, sizes, np.zeros_like(sizes), np.ones_like(sizes), np.ones(len(sizes), bool))
    np.testing.assert_array_equal(got[5 : 5 + sizes[5]], alone(5, sizes[5], 0))
    assert (got[:5] == 0).all() and (got[5 + sizes[5] :] == 0).all()


def test_all_permutations_of_four_are_as_likely():
    keys = counter.key(3, np.arange(24_000))
    ones = np.ones(len(keys), int)
    four = orders(keys, 4 * ones, 0 * ones, ones, ones > 0).reshape(-1, 4)
    _, counts = np.unique(four @ [64, 16, 4, 1], return_counts=True)
    assert len(counts) == 24 and stats.chisquare(counts).pvalue > 1e-3


def test_uniforms_are_uniform_and_inside():
    numbers = counter.uniforms(counter.key(0, np.arange(50_000)))
    assert 0 < numbers.min() and numbers.max() < 1
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3
    ends = counter.uniforms(np.array([0, 2**64 - 1], np.uint64))
    assert 0 < ends[0] < ends[1] < 1


def test_mix_is_the_published_finaliser():
    """SplitMix64 from state 1234567, as in every implementation's test vector."""
    state, expected = 1234567, [6457827717110365317, 3203168211198807973, 9817491932198370423]
    states = [(state + (k + 1) * int(counter.GOLDEN)) % 2**64 for k in range(3)]
    assert counter.mix(np.array(states, np.uint64)).tolist() == expected


@pytest.mark.parametrize("batch", [4, 9, 23])
@pytest.mark.parametrize("block", [1, 40, 1 << 21])
def test_every_sample_is_visited_once_a_pass(monkeypatch, block, batch):
    """Whatever the blocks in which steps are planned; the order is the one drawn."""
    monkeypatch.setattr(plan, "BLOCK", block)
    monkeypatch.setattr(plan, "SPARE", 2)  # several runs a step
    sizes, epochs = np.array([23, 9, 8, 4, 1]), 3
    per_pass = -(-sizes // batch)
    five, steps = np.arange(5), per_pass * epochs
    jobs = Jobs(five, 0 * five, five.astype(np.uint64), sizes, steps, batch, np.zeros((5, 5)))
    offsets = np.append(0, np.cumsum(sizes))
    visited = [[] for _ in sizes]
    for run in plan.plan(jobs, ClientData(torch.ones(45), torch.ones(45), offsets), torch.empty(0)):
        clients = run.last - run.first
        shape = len(run.rows), clients, run.width
        share = torch.ones(shape) if run.share is None else run.share
        for rows, counted in zip(run.rows.view(shape).numpy(), share.numpy() > 0, strict=True):
            for i, (row, is_counted) in enumerate(zip(rows, counted, strict=True)):
                visited[run.first + i].append(row[is_counted] - offsets[run.first + i])
                assert set(row[~is_counted]) <= {row[0]}
    for j, batches in enumerate(visited):
        lengths = [min(batch, sizes[j] - t % per_pass[j] * batch) for t in range(steps[j])]
        assert [len(b) for b in batches] == lengths
        drawn_alone = [alone(j, sizes[j], number, sizes[j] > batch) for number in range(epochs)]
        np.testing.assert_array_equal(np.concatenate(batches), np.concatenate(drawn_alone))
