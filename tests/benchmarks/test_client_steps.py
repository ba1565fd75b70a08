"""The plain twins compute what the engine does: a round on all data, where no order is drawn."""

import numpy as np
import pytest
import torch

from benchmarks import client_steps, in_turn, simulator
from fairfl.sims import engine
from fairfl.sims.algorithms.fedavg import FedAvg


@pytest.mark.parametrize("hidden", [(), (7,)])
def test_numpy_is_the_engine(hidden):
    widths = (simulator.FEATURES, *hidden, simulator.CLASSES)
    layers = client_steps.start(widths)
    model = engine.MLP(widths) if hidden else engine.Softmax(*widths)
    x, y = client_steps.people(3)
    data = engine.ClientData(
        x.reshape(-1, simulator.FEATURES), y.ravel(), np.arange(4) * simulator.SAMPLES
    )
    training = engine.Training(rounds=1, lr=client_steps.LR, batch_size=None)
    computing = engine.Computing(device="cpu", dtype="float64")
    run = engine.Simulation(
        model, engine.Parts(data), [engine.Replicate(FedAvg())], training, computing
    )

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
