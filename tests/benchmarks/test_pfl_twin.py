"""Where pfl is installed: it computes the model that the engine computes, so that their times can
be compared.
"""

import numpy as np
import pytest
import torch

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import (
    ClientData,
    Computing,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Training,
)


def test_pfl_computes_the_same():
    pytest.importorskip("pfl")
    from benchmarks import pfl_twin

    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(5, 12, 4)).astype(np.float32), rng.integers(0, 3, (5, 12))
    times, module = pfl_twin.rounds(lambda: pfl_twin.linear(4, 3), x, y, 4, batch=12)
    data = ClientData(
        torch.from_numpy(x).reshape(-1, 4), torch.from_numpy(y).reshape(-1), np.arange(6) * 12
    )
    training = Training(rounds=4, batch_size=None)
    simulation = Simulation(
        Softmax(4, 3), Parts(data), [Replicate(FedAvg())], training, Computing(device="cpu")
    )
    for _ in range(4):
        simulation.step()
    w = simulation.params[0].view(3, 5)
    np.testing.assert_allclose(w[:, :4], module.weight.detach(), atol=1e-6)
    np.testing.assert_allclose(w[:, 4], module.bias.detach(), atol=1e-6)
    assert len(times) == 4 and min(times) > 0


def test_its_loss_is_the_mean_cross_entropy():
    from benchmarks import pfl_twin

    network = pfl_twin.Network(pfl_twin.linear(4, 3))
    loss = network.loss(torch.ones(2, 4), torch.tensor([0, 2]))
    assert float(loss.detach()) == pytest.approx(np.log(3)) and network.training
    network.loss(torch.ones(2, 4), torch.tensor([0, 2]), eval=True)
    assert not network.training and network.metrics(torch.ones(1), torch.ones(1)) == {}
