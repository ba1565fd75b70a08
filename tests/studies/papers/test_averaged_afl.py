"""The average of AFL's iterates, against the iterates themselves."""

import numpy as np
import pytest
import torch

from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.engine import ClientData, Computing, LeastSquares, Parts, Replicate, Simulation, Training
from fairfl.studies.papers.qffl.averaged_afl import AveragedAFL


@pytest.mark.exact
def test_it_is_the_mean_of_what_afl_passes_through():
    rng = np.random.default_rng(0)
    clients = [(torch.from_numpy(rng.normal(size=(5, 2))), torch.from_numpy(rng.normal(size=5))) for _ in range(3)]
    parts, training = Parts(ClientData.from_clients(clients)), Training(6, lr=0.1, batch_size=None, steps=1)
    replicates = [Replicate(AFL(0.3)), Replicate(AveragedAFL(0.3))]
    simulation = Simulation(LeastSquares(2), parts, replicates, training, Computing("cpu", "float64"))
    passed = []
    while not simulation.done:
        simulation.step()
        passed.append(simulation.params.clone())
        assert torch.equal(simulation.params[0], simulation.params[1])
    average = simulation.states[1]["average"]
    assert average.shape == (3, 3)
    assert average.numpy() == pytest.approx(np.tile(torch.stack(passed)[:, 1].mean(0).numpy(), (3, 1)), abs=1e-12)


def test_it_is_not_among_the_algorithms():
    assert AveragedAFL not in algorithms().values()
