"""Updates that come in parts: what a server makes of them, and the memory that they take."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from every_algorithm import EVERY, FedAvg, FedMGDA
from federations import EXACT, allocated, classified, quick, received, trained
from grouped import people

from fairfl.sims.engine import (
    MLP,
    Aggregate,
    ClientData,
    Computing,
    Logistic,
    Module,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Training,
    Uniform,
)
from fairfl.sims.engine import round as rounds
from fairfl.sims.engine.round import squared_norms
from fairfl.sims.engine.secure_sums import SumOnly
from fairfl.sims.group_fairness import FairBatch, FairFed, FedFB, LocalFairBatch
from fairfl.sims.models import LeNet

SIZES = (1, 17, 4, 9, 30, 8, 8, 2, 5)
SETTING = quick(
    rounds=2, lr=0.05, momentum=0.5, participation=Uniform(7), stragglers=0.3, dropout=0.1, epochs=2
)


@pytest.fixture
def small_blocks(monkeypatch):
    """Sums of two clients' updates at a time, so that a small limit makes small parts."""
    monkeypatch.setattr(rounds, "BLOCK", 2 * 15 * 8)


GROUP_FAIR = [FedFB(), FedFB(evaluated="local"), FairFed(), LocalFairBatch(FairBatch(), 2)]
GROUP_FAIR += [LocalFairBatch(FairBatch())]
PEOPLE = Logistic(2), people((30, 50, 40, 20)), GROUP_FAIR, quick(rounds=4)
ALONE = (
    Softmax(4, 3),
    classified(SIZES),
    [rule for rule in EVERY if rule.name != "fedmgda"],
    SETTING,
)
AT_ONCE = *ALONE[:2], [rule for rule in EVERY if rule.name == "fedmgda"], SETTING


@pytest.mark.parametrize(
    ("arguments", "limit", "off"),
    [(ALONE, 1, 1e-11), (AT_ONCE, 7 * 15 * 8, 1e-11), (PEOPLE, 1, 1e-12)],
    ids=["all but one", "FedMGDA", "behind sums"],
)
def test_parts_are_the_whole(arguments, limit, off, monkeypatch):
    """Two clients at a time (behind sums one), and all; FedMGDA looks at all at once."""
    monkeypatch.setattr(rounds, "BLOCK", 1 if arguments is PEOPLE else 2 * 15 * 8)
    parts, whole = (
        trained(*arguments, replace(EXACT, memory_limit=m), seeds=range(len(arguments[2])))
        for m in (limit, 1 << 30)
    )
    for r, rule in enumerate(arguments[2]):
        close = {"rtol": off, "atol": off, "err_msg": repr(rule)}
        np.testing.assert_allclose(parts.params[r], whole.params[r], **close)
        for name, value in parts.states[r].items():
            np.testing.assert_allclose(value, whole.states[r][name], **close)
        np.testing.assert_array_equal(parts.weights[r][0], whole.weights[r][0])
        np.testing.assert_allclose(parts.weights[r][1], whole.weights[r][1], **close)
        moved = parts.params[r] if parts.params[r].any() else parts.states[r]["own.models"]
        assert float(moved.abs().max()) > 1e-3


def diverging(*clients):
    """Data on which the updates of these clients overflow float32."""
    data = classified(SIZES).train
    x = data.x.clone()
    for k in clients:
        x[data.offsets[k] : data.offsets[k + 1]] = 1e30
    return Parts(ClientData(x, data.y, data.offsets))


@pytest.mark.parametrize("bad", [(), (0, 7), tuple(range(9))], ids=str)
@pytest.mark.parametrize("rule", [FedAvg(), FedMGDA(), EVERY[-1]], ids=repr)
@pytest.mark.parametrize("limit", [9 * 15 * 4, 1 << 30])
def test_who_diverges_is_left_out(limit, rule, bad, small_blocks):
    """Parts of four of nine clients, or all; some diverge. The step is that of the others."""
    computing = Computing(device="cpu", non_finite="drop", memory_limit=limit)
    model, training = Softmax(4, 3), quick(rounds=1, lr=1e10)
    simulation = Simulation(model, diverging(*bad), [Replicate(rule)], training, computing)
    (row,) = simulation.step()
    assert (row["non_finite"], row["received"]) == (len(bad), 9 - len(bad))
    left = [k for k in range(9) if k not in bad]
    if not left:
        assert row["step_norm"] == 0
        return
    others = Parts(classified(SIZES).train.take(left))
    again = Simulation(model, others, [Replicate(rule)], training, Computing(device="cpu"))
    again.step()
    largest = float(again.params.abs().max())
    np.testing.assert_allclose(simulation.params, again.params, rtol=0, atol=1e-6 * largest)


def test_updates_that_are_held_all_at_once_must_fit(monkeypatch):
    """Nine rows of 15, of 8 bytes: a byte less is refused, by name; nothing has moved."""
    monkeypatch.setattr(rounds, "BLOCK", 1)
    data, model, rule = classified(SIZES), Softmax(4, 3), FedMGDA()
    rows, ends = 9 * 15 * 8, []
    for limit in (rows - 1, rows, 1 << 30):
        computing = replace(EXACT, memory_limit=limit)
        simulation = Simulation(model, data, [Replicate(rule)], quick(rounds=1), computing)
        start = simulation.params.clone()
        if limit < rows:
            with pytest.raises(ValueError, match=f"memory_limit must be at least {rows} bytes"):
                simulation.step()
            assert torch.equal(simulation.params, start) and simulation.round == 0
            continue
        simulation.step()
        ends.append(simulation.params)
    np.testing.assert_allclose(*ends, rtol=1e-12)
    assert not torch.equal(ends[0], start)


def test_a_total_by_hand():
    rows = torch.arange(12.0, dtype=torch.float64).reshape(4, 3)
    came = received(rows, [1, 3], np.arange(1.0, 5), layers=(2, 1))
    weights = np.array([1.0, 0.0, 2.0, 1.0])
    assert came.total(weights).tolist() == [21, 25, 29]  # rows 0, 2 twice and 3
    by_layer = np.column_stack([weights, [0.0, 0.0, 0.0, 1.0]])
    assert came.total(by_layer).tolist() == [21, 25, 11]
    assert came.total(lambda part: part.losses).tolist() == [60, 70, 80]  # 1, 2, 3, 4 times
    halves = came.changed(lambda part: part.updates / 2).total(weights)
    assert halves.tolist() == [10.5, 12.5, 14.5]
    assert [part.clients.tolist() for part in came.parts()] == [[0], [1, 2, 3]]
    by_hand = [[1, 4], [25, 25], [85, 64], [181, 121]]
    assert squared_norms(rows, (2, 1)).tolist() == by_hand


@dataclass(frozen=True)
class Overwriting(FedAvg):
    """FedAvg that writes into all that it was given, once it has no more use for it."""

    def server(self, received):
        aggregate = Aggregate(received.p.copy())
        for array in (received.p, received.rows):
            array[:] = 0
        for shared in (received.clients, received.draws, received.everyone, *self.shared):
            with pytest.raises(ValueError, match="read-only"):
                shared[:] = 0
        return aggregate


def test_an_algorithm_that_writes_into_what_it_is_given_changes_no_later_round():
    data = classified([9, 5, 7])
    Overwriting.shared = data.p, data.train.names, data.train.offsets
    both = trained(Softmax(4, 3), data, [Overwriting(), FedAvg()], quick(rounds=4))
    alone = trained(Softmax(4, 3), data, [FedAvg()], quick(rounds=4))
    assert alone.params.any() and torch.equal(both.params, alone.params.expand(2, -1))


def test_layers_are_weights_with_their_bias():
    assert Softmax(4, 3).layers == (15,)
    assert MLP((4, 6, 5, 3)).layers == (30, 35, 18)
    assert Module(LeNet).layers == (156, 2416, 48_120, 10_164, 850)  # derived in models/test_models


FIRST = {rule.name: rule for rule in reversed(EVERY) if rule.name not in ("fedmgda", "ditto")}
HELD = *FIRST.values(), *GROUP_FAIR[:3], LocalFairBatch(average_every=1)


@pytest.mark.parametrize("rule", HELD, ids=lambda rule: rule.name)
@pytest.mark.every(4)
def test_memory_does_not_grow_with_the_clients(rule, monkeypatch):
    """Updates of 40 clients are 40 * 85 kB; with a limit of 1 MB they take as much as 10's.

    FedMGDA+ looks at all updates at once, Ditto keeps a model a client.
    """
    model, row_bytes, took = MLP((50, 200, 50, 10)), 4 * 20_760, {}
    assert model.size == 20_760
    monkeypatch.setattr(rounds, "BLOCK", row_bytes)
    behind = isinstance(rule, SumOnly)
    for clients in (10, 40):
        x = torch.randn(4 * clients, 50, generator=torch.Generator().manual_seed(0))
        y = torch.arange(4 * clients) % (2 if behind else 10)
        group = np.arange(4 * clients) // 2 % 2 if behind else None
        data = Parts(ClientData(x, y, np.arange(clients + 1) * 4, group=group))
        arguments = model, data, [Replicate(rule)], Training(rounds=2, batch_size=4)
        simulation = Simulation(*arguments, Computing(device="cpu", memory_limit=1 << 20))
        if behind:
            simulation.step()  # the first one reports nothing
        took[clients] = allocated(simulation.step)
    assert took[40] <= took[10] + 5 * row_bytes < 40 * row_bytes
    assert took[40] <= 1.6 * (1 << 20)
