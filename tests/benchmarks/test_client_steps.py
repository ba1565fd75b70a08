"""The plain twins compute what the engine does: a round on all data, where no order is drawn."""

import numpy as np
import pytest
import torch

from benchmarks import client_steps, simulator
from fairfl.sims import engine


@pytest.mark.parametrize("hidden", [(), (7,)])
def test_numpy_is_the_engine(hidden):
    widths = (simulator.FEATURES, *hidden, simulator.CLASSES)
    layers = client_steps.start(widths)
    model = engine.MLP(widths) if hidden else engine.Softmax(*widths)
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(3, 20, simulator.FEATURES)), rng.integers(0, simulator.CLASSES, (3, 20))
    rows = x.reshape(60, -1), y.ravel(), np.arange(4) * 20
    computing = engine.Computing(device="cpu", dtype="float64")
    run = simulator.simulated(model, rows, computing, lr=client_steps.LR, batch_size=None)

    def one_row():
        return np.concatenate([np.vstack(layer).ravel(order) for layer in layers])

    order = "C" if hidden else "F"
    row = one_row()
    run.params[0] = run.params.new_tensor(row)
    run.step()
    client_steps.in_numpy(layers, x, y, 20)()
    stepped = one_row()
    np.testing.assert_allclose(stepped, run.params[0], atol=1e-6)
    assert np.abs(stepped - row).max() > 1e-3


def test_the_loop_is_the_engine():
    """On one client with one batch, from the same parameters."""
    model = engine.MLP((3, 4, 2))
    x = np.random.default_rng(3).normal(size=(1, 10, 3)).astype(np.float32)
    y, network = np.arange(10)[None] % 2, model.sequential()
    run = simulator.simulated(
        engine.Module(model.sequential), (x[0], y[0], np.array([0, 10])), lr=client_steps.LR
    )
    run.params[0] = torch.nn.utils.parameters_to_vector(network.parameters()).detach().clone()
    run.step()
    client_steps.in_a_loop(network, x, y)()
    params = torch.nn.utils.parameters_to_vector(network.parameters()).detach()
    torch.testing.assert_close(run.params[0], params, rtol=1e-4, atol=1e-6)
