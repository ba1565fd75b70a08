"""Runs of the engine against the bounds of PropFair's theorem A.1, where the constants are known
exactly.

Clients with one curvature, F_k(w) = (w - c_k)' A (w - c_k) / 2: grad F_i - grad F_j = A (c_j - c_i)
everywhere, so that sigma_g is known; batches are all data, so that sigma_i = 0; L is the largest
eigenvalue of A, and F* is at the mean.
"""

from math import e, sqrt

import numpy as np
import pytest
import torch
from federations import EXACT

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import ClientData, LeastSquares, Parts, Replicate, Simulation, Training

CLIENTS, FEATURES, ROWS = 6, 4, 12


@pytest.mark.parametrize("steps", [1, 5, 20])
@pytest.mark.parametrize("seed", [0, 1])
def test_fedavg_is_within_the_bound(steps, seed):
    """Far within, at every round."""
    rng, rounds = np.random.default_rng(seed), 60
    x, y = rng.normal(size=(ROWS, FEATURES)), rng.normal(size=(CLIENTS, ROWS)) * 2
    data = Parts(ClientData.from_clients([(torch.from_numpy(x), torch.from_numpy(k)) for k in y]))
    A, slopes = x.T @ x / ROWS, -y @ x / ROWS  # at w = 0; at any w A w more
    L = np.linalg.eigvalsh(A)[-1]
    between = max(np.linalg.norm(a - b) for a in slopes for b in slopes)
    best = np.linalg.solve(A, -slopes.mean(0))
    gap = ((y**2).mean() - ((x @ best - y) ** 2).mean()) / 2
    eta = min(1 / (6 * L * steps), 1 / (L * steps**2 * sqrt(24 * (e - 2))))
    drift = 2 * (e - 2) * (eta * L) ** 2
    psi = eta / 2 * between**2 * (2 * steps**2 + drift * 6 * steps**4)
    training, model = Training(rounds, eta, None, steps=steps), LeastSquares(FEATURES, bias=False)
    simulation = Simulation(model, data, [Replicate(FedAvg())], training, EXACT)
    least, ratios = np.inf, []
    for t in range(1, rounds + 1):
        slope = A @ simulation.params[0].numpy() + slopes.mean(0)
        least = min(least, float(slope @ slope))
        simulation.step()
        bound = 12 / ((11 * steps - 9) * eta) * (gap / t + psi)
        assert least <= bound
        ratios.append(bound / least)
    # clients of one curvature drift to nowhere: local steps have the same fixed point, and the
    # bound's noise is not met
    assert min(ratios) > 5
