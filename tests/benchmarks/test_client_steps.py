"""The plain twins compute what the engine does: a round on all data, where no order is drawn."""

import numpy as np
import pytest
import torch

from benchmarks import client_steps, in_turn, simulator
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import (
    MLP,
    ClientData,
    Computing,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Training,
)


@pytest.mark.parametrize("hidden", [(), (7,)])
def test_numpy_is_the_engine(hidden):
    widths = (simulator.FEATURES, *hidden, simulator.CLASSES)
    layers = client_steps.start(widths)
    model = MLP(widths) if hidden else Softmax(*widths)
    x, y = client_steps.people(3)
    data = ClientData(
        x.reshape(-1, simulator.FEATURES), y.ravel(), np.arange(4) * simulator.SAMPLES
    )
    training = Training(rounds=1, lr=client_steps.LR, batch_size=None)
    computing = Computing(device="cpu", dtype="float64")
    run = Simulation(model, Parts(data), [Replicate(FedAvg())], training, computing)

    def one_row():
        return np.concatenate([np.vstack(layer).ravel(order) for layer in layers])

    order = "C" if hidden else "F"
    row = one_row()
    run.params[0] = run.params.new_tensor(row)
    run.step()
    client_steps.in_numpy(layers, 3, simulator.SAMPLES)()
    found = one_row()
    np.testing.assert_allclose(found, run.params[0], atol=1e-6)
    assert np.abs(found - row).max() > 1e-3


def test_the_loop_is_the_engine_for_models_whose_clients_go_in_turn():
    """On one client with one batch, from the same parameters."""
    for name, make, x, y in in_turn.jobs(1, in_turn.BATCH):
        network, run = make(), in_turn.simulation(name, make, x, y)
        before = torch.nn.utils.parameters_to_vector(network.parameters()).detach().clone()
        run.params[0] = before
        run.step()
        client_steps.in_a_loop(network, x, y)()
        found = torch.nn.utils.parameters_to_vector(network.parameters()).detach()
        assert run.model.in_turn and (found - before).abs().max() > 1e-3
        torch.testing.assert_close(run.params[0], found, rtol=1e-4, atol=1e-6)


def test_the_backend_that_loops_is_the_engine():
    model = Softmax(simulator.FEATURES, simulator.CLASSES)
    sizes = np.full(3, simulator.SAMPLES)
    ours, loop = (simulator.simulation(model, sizes, backend) for backend in ("batched", "loop"))
    (mine,), (other,) = ours.step(), loop.step()
    assert mine["steps"] == other["steps"] == 36
    np.testing.assert_allclose(
        ours.params.numpy(), loop.params.detach().numpy(), rtol=1e-4, atol=1e-5
    )
