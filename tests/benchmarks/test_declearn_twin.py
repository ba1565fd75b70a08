"""declearn's FedFB: what our engine computes with its changes, and what it refuses."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from benchmarks import declearn_twin
from fairfl.sims.engine import MLP, ClientData, Computing, Parts, Replicate, Simulation, Training
from fairfl.sims.engine.secure_sums import as_floats
from fairfl.sims.group_fairness import FairBatch, FedFB
from fairfl.sims.group_fairness.notions import NOTIONS, DemographicParity

MODEL = MLP((3, 4, 2))
JOB = {"rounds": 3, "epochs": 2, "batch": 16, "lr": 0.05, "momentum": 0.0, "alpha": 0.02, "seed": 1}


def people(clients=3, size=64):
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, clients * size)
    x = rng.normal(size=(len(a), 2)) + a[:, None]
    y = (x[:, 0] + 0.5 * rng.normal(size=len(a)) > 0.5).astype(int)
    rows = torch.from_numpy(np.column_stack([x, a]))
    return ClientData(rows, torch.from_numpy(y), np.arange(clients + 1) * size, group=a)


class Batches(DemographicParity):
    """declearn's λ: λ_a of a batch are group a with label 0, P(a) - λ_a with label 1."""

    name = "dp-batches"

    def __init__(self, turned):
        self.turned = turned

    def initial(self, known):
        return known[:, 0] / known.sum()

    def project(self, lam, known):
        return np.clip(lam, 0.0, known.sum(1) / known.sum())

    def direction(self, total, known):
        gap = super().direction(total, known)[1]
        return np.array([-gap, gap if self.turned else -gap])

    def table(self, lam, known, counts):
        mass = np.stack([lam, known.sum(1) / known.sum() - lam], axis=1)
        return mass * counts.sum((1, 2), keepdims=True) / np.maximum(counts, 1)


@dataclass(frozen=True)
class Like(FedFB):
    """FedFB with declearn's first step, at the start, and its updates times ``rate``."""

    rate: float = 1.0
    name = ""

    def measured(self, number):
        return "start"

    def weigh(self, round):
        return np.full(len(round.clients), self.rate)


def engine(data, turned, rate, rounds):
    """λ in each round of our engine with declearn's changes."""
    notion = f"dp-batches-{turned}"
    NOTIONS[notion] = Batches(turned)
    try:
        algorithm = Like(FairBatch(notion, JOB["alpha"]), rate=rate)
        training = Training(
            rounds=rounds, epochs=JOB["epochs"], lr=JOB["lr"], batch_size=JOB["batch"]
        )
        simulation = Simulation(
            MODEL, Parts(data), [Replicate(algorithm, JOB["seed"])], training, Computing("cpu")
        )
        lam = []
        for _ in range(rounds):
            simulation.step()
            lam.append(as_floats(simulation.states[0]["lam"]))
        return np.array(lam)
    finally:
        del NOTIONS[notion]


@pytest.mark.parametrize("turned", [False, True])
def test_its_lambda_is_ours_with_its_changes(turned):
    """The printed formula's sign of F is what λ goes by."""
    pytest.importorskip("declearn")
    data = people()
    found = declearn_twin.fedfb(data, MODEL, **JOB, server_lr=1 / 3, turned=turned)
    np.testing.assert_allclose(found.lam, engine(data, turned, 1 / 3, JOB["rounds"]), atol=1e-12)
    moved = np.diff(found.lam, axis=0)
    assert (np.abs(moved) > 0).all()
    assert (np.sign(moved[:, 0]) == (-1 if turned else 1) * np.sign(moved[:, 1])).all()
    assert found.params.shape == (MODEL.size,)
    assert found.seconds > 0


def test_it_adds_the_updates_up():
    """At the first round, from one start: the step at server rate 1 is three times that at 1/3."""
    pytest.importorskip("declearn")
    data, start = people(), MODEL.init(JOB["seed"]).float().double()
    job = JOB | {"rounds": 1}
    one, third = (
        declearn_twin.fedfb(data, MODEL, **job, server_lr=rate).params - start
        for rate in (1.0, 1 / 3)
    )
    np.testing.assert_allclose(one.numpy(), 3 * third.numpy(), atol=1e-5)
    assert one.abs().max() > 1e-3


def test_without_its_step_at_the_untrained_model():
    """λ stays in the first round, the shares of label 0, and moves in the second."""
    pytest.importorskip("declearn")
    data = people()
    found = declearn_twin.fedfb(data, MODEL, **JOB, server_lr=1 / 3, turned=True, untrained=False)
    y, group = data.y.numpy(), data.group
    np.testing.assert_allclose(
        found.lam[0], [((group == a) & (y == 0)).mean() for a in (0, 1)], atol=1e-12
    )
    assert found.lam.shape == (3, 2)
    moved = np.diff(found.lam, axis=0)
    np.testing.assert_allclose(np.abs(moved), JOB["alpha"] / 2**0.5, atol=1e-12)
    np.testing.assert_allclose(moved.sum(1), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("data", "model", "change", "message"),
    [
        (people(), MODEL, {"rounds": 0}, "rounds"),
        (people(), MODEL, {"alpha": -1.0}, "alpha"),
        (people(), MODEL, {"server_lr": 0.0}, "server_lr"),
        (people(), MLP((3, 4, 4, 2)), {}, "one hidden layer"),
        (ClientData(people().x, people().y, people().offsets), MODEL, {}, "group must hold"),
    ],
    ids=["rounds", "alpha", "server_lr", "model", "group"],
)
def test_bad_arguments(data, model, change, message):
    with pytest.raises(ValueError, match=message):
        declearn_twin.fedfb(data, model, **(JOB | change))
