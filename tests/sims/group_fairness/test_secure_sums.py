"""Behind sums: masks tell nothing, the server sees sums alone, of all clients or of some; bytes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from federations import Masks
from grouped import EXACT, people, run

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Uniform, as_floats, as_tensor
from fairfl.sims.engine import secure_masks as secure
from fairfl.sims.engine.secure_sums import OWN, UPDATE
from fairfl.sims.group_fairness import FairBatch, FairFed, FedFB, LocalFairBatch

pytestmark = pytest.mark.exact

ALL = np.ones(3, dtype=bool)
SINGLE = replace(EXACT, dtype="float32")
MASKED, MASKED_SINGLE = (replace(settings, masked_updates=True) for settings in (EXACT, SINGLE))
STEP = 3 * 2.0 ** -(secure.FRACTION + 1)
"""What rounding to fixed-point numbers may change in a sum over three clients."""


def test_messages_are_uniform_whatever_the_reports():
    """Every bit is set half of the time: within five standard deviations, 4,000 rounds."""
    rounds, ids = 4000, np.array([3, 8, 5])
    for rows in (np.zeros((3, 2)), np.full((3, 2), 12345.678)):
        sent = np.array([secure.mask(rows, ids, 7, t) for t in range(rounds)])
        bits = (sent[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        assert np.abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / rounds**0.5
    assert len(np.unique(sent)) == sent.size  # no pad is used twice


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0**26])
def test_a_bad_report_names_its_client(value):
    rows = np.zeros((2, 3))
    rows[1, 2] = value
    with pytest.raises(ValueError, match="of client 6"):
        secure.mask(rows, [4, 6], 0)


class Spy(FedFB):
    """FedFB that writes down what its server's hooks are given."""

    name = ""
    seen: list = []

    def begin(self, total, clients):
        Spy.seen[:] = [(total, {})]
        return super().begin(total, clients)

    def keep(self, round, updates):
        return {"own.secret": updates.updates}

    def steer(self, total, state):
        Spy.seen.append((total, {name: as_floats(value) for name, value in state.items()}))
        return super().steer(total, state)


def test_the_server_sees_sums_and_its_own_state_alone():
    parts = people()
    simulation, _ = run(parts, Spy(), 3)
    assert "own.secret" in simulation.states[0]
    (enrolled, _), *rest = Spy.seen
    y, a = parts.train.y.numpy(), parts.train.group
    assert enrolled.tolist() == [((a == g) & (y == v)).sum() for g in (0, 1) for v in (0, 1)]
    assert len(rest) == 2
    for total, state in rest:
        assert total.shape == (2,)  # not a row a client
        assert sorted(state) == ["known", "lam", "reports", "steps"]
    with pytest.raises(TypeError, match="server sees sums alone"):
        Spy().server(None)


class Meddling(FedFB):
    name = ""

    def steer(self, total, state):
        return {"own.models": as_tensor(total)}


class Leaking(FedFB):
    name = ""

    def remember(self, round, cells):
        return {"losses": as_tensor(cells.loss.ravel())}


@pytest.mark.parametrize("algorithm", [Meddling(), Leaking()])
def test_neither_side_writes_the_others_state(algorithm):
    with pytest.raises(ValueError, match="state must have names"):
        run(people(), algorithm, 2)


@pytest.mark.parametrize(
    "algorithm", [FedFB(), FedFB(FairBatch("eo")), FairFed(), LocalFairBatch(average_every=1)]
)
def test_the_step_of_masked_updates_is_that_of_the_plain_sum(algorithm):
    """The round that is taken from one model: within the fixed point's rounding, which is felt."""
    plain, masked = (run(people(), algorithm, 1, how)[0].params for how in (EXACT, MASKED))
    assert 0 < (plain - masked).abs().max() <= STEP


def test_masked_updates_of_some_of_the_clients():
    options = {"participation": Masks([True, False, True], [False, False, True])}
    plain, masked = (
        run(people(), FedFB(every=9), 2, how, **options)[0].params for how in (EXACT, MASKED)
    )
    torch.testing.assert_close(masked, plain, atol=2 * STEP, rtol=0)


def test_masked_updates_differ_from_the_plain_and_add_up(monkeypatch):
    """Messages differ from updates everywhere, and no mask is used twice."""
    sent, mask = [], secure.mask

    def spied(rows, ids, *words):
        messages = mask(rows, ids, *words)
        if UPDATE in words:
            sent.append((np.asarray(rows), messages))
        return messages

    monkeypatch.setattr(secure, "mask", spied)
    simulation, _ = run(people(), FedFB(), 2, MASKED)
    assert len(sent) == 2
    for rows, messages in sent:
        assert rows.shape == (3, simulation.model.size)
        alone = np.rint(rows * 2.0**secure.FRACTION).astype(np.int64).view(np.uint64)
        assert (messages != alone).all()
        np.testing.assert_allclose(secure.unmask(messages), rows.sum(0), atol=STEP, rtol=0)
    assert not any(name.startswith(OWN) for name in simulation.states[0])
    codes = np.concatenate([messages.ravel() for _, messages in sent])
    assert len(np.unique(codes)) == 2 * 3 * simulation.model.size


TWO = {"participation": Masks(ALL, [True, False, True])}


@pytest.mark.parametrize(
    ("algorithm", "number", "computing", "options", "down", "up"),
    [
        # three parameters of 8 bytes for 3 clients; from round 1 on reports are 2 such numbers
        (FedFB(), 0, EXACT, {}, 72, 72),
        (FedFB(), 1, EXACT, {}, 72, 72 + 3 * 2 * 8),
        (FedAvg(), 1, EXACT, {}, 72, 72),
        (LocalFairBatch(), 1, EXACT, {}, 0, 0),
        (LocalFairBatch(average_every=2), 1, EXACT, {}, 72, 72),
        # ten bits: sums of three codes are below 2^12, so two numbers of 12 bits, 3 bytes
        (FedFB(bits=10), 1, EXACT, {}, 72, 72 + 3 * 3),
        # of two codes below 2^11
        (FedFB(bits=10), 1, EXACT, TWO, 48, 2 * (24 + 3)),
        (FedFB(FairBatch("eodds")), 1, EXACT, {}, 72, 72 + 3 * 4 * 8),
        # masked updates have 8 bytes a number in place of 4; what comes down is as it was
        (FedFB(), 1, SINGLE, {}, 36, 3 * (3 * 4 + 2 * 8)),
        (FedFB(), 1, MASKED_SINGLE, {}, 36, 3 * (3 * 8 + 2 * 8)),
        (FairFed(), 0, SINGLE, {}, 36, 3 * (3 * 4 + 8)),
        (FairFed(), 0, MASKED_SINGLE, {}, 36, 3 * (3 * 8 + 8)),
        (LocalFairBatch(), 1, MASKED_SINGLE, {}, 0, 0),
    ],
)
def test_bytes(algorithm, number, computing, options, down, up):
    row = run(people(), algorithm, 2, computing, **options)[1][number]
    assert (row["bytes_down"], row["bytes_up"]) == (down, up)


def first_sum(algorithm, mask):
    """The first sum of reports, at the model that everybody trained in round 0, and of how many."""
    run(people(), algorithm, 2, participation=Masks(ALL, mask))
    total, state = Spy.seen[1]
    return total, int(state["reports"][0])


def alone(k):
    return np.arange(3) == k


@pytest.mark.parametrize("notion", ["dp", "eo", "eodds"])
@pytest.mark.parametrize("surrogate", ["loss", "acceptance", "zero_one"])
def test_the_mean_over_draws_by_weight_is_the_sum_over_all(notion, surrogate):
    """One draw by π_k: what client k alone reports, weighed by π_k, adds up to the sum over all."""
    algorithm, share = Spy(FairBatch(notion, surrogate=surrogate)), people().p
    whole, count = first_sum(algorithm, ALL)
    assert count == 3
    mean = sum(share[k] * first_sum(algorithm, alone(k))[0] for k in range(3))
    np.testing.assert_allclose(mean, whole, atol=1e-9)  # secure sums are rounded to 2^-36
    if surrogate != "zero_one":  # nobody of label 1 is misclassified there
        assert np.abs(first_sum(algorithm, alone(0))[0] - whole).max() > 1e-3


def test_two_of_three_are_the_ratio_estimate():
    """Clients 0 and 2 by hand: their reports' sum over their share of the people."""
    algorithm, share = Spy(), people().p
    zero, two = (first_sum(algorithm, alone(k))[0] * share[k] for k in (0, 2))
    both, count = first_sum(algorithm, [True, False, True])
    np.testing.assert_allclose(both, (zero + two) / (share[0] + share[2]), atol=1e-9)
    assert count == 2


@pytest.mark.parametrize(
    "algorithm",
    [FedFB(FairBatch("cp")), FairFed(), LocalFairBatch(), LocalFairBatch(average_every=2)],
    ids=repr,
)
def test_others_need_everyone(algorithm):
    two = Masks(ALL, [True, True, False])
    with pytest.raises(ValueError, match=r"must be of every client.*got 2 of 3 in round 1"):
        run(people(), algorithm, 5, participation=two)
    # before any work, though nothing is measured yet
    with pytest.raises(ValueError, match=r"got Uniform\(count=2\), dropout 0"):
        run(people(), algorithm, 1, participation=Uniform(2))
    with pytest.raises(ValueError, match=r"got Everyone\(\), dropout 0.01"):
        run(people(), algorithm, 1, dropout=0.01)
