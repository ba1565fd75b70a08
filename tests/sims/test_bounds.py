"""Runs of the engine against the bounds of PropFair's theorem A.1, where the constants are known
exactly.

Clients with one curvature, F_k(w) = (w - c_k)' A (w - c_k) / 2: grad F_i - grad F_j = A (c_j - c_i)
everywhere, so that sigma_g is known; batches are all data, so that sigma_i = 0; L is the largest
eigenvalue of A, and F* is at the mean.
"""

import numpy as np
import pytest

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Computing, LeastSquares, Replicate, Simulation, Training
from fairfl.studies.least_squares_problem import Problem
from fairfl.theory.bounds import fedavg_convergence
from fairfl.theory.bounds.averaging import fedavg_step_limit

CLIENTS, FEATURES, ROWS = 6, 4, 12


def one_curvature(seed):
    """The same rows x for everyone, targets of their own."""
    rng = np.random.default_rng(seed)
    x = np.repeat(rng.normal(size=(1, ROWS, FEATURES)), CLIENTS, axis=0)
    return Problem.of(x, rng.normal(size=(CLIENTS, ROWS)) * 2)


@pytest.mark.parametrize("steps", [1, 5, 20])
@pytest.mark.parametrize("seed", [0, 1])
def test_fedavg_is_within_the_bound(steps, seed):
    """As printed and as repaired, which for everyone taking part are the same numbers; far within,
    at every round.
    """
    problem, rounds = one_curvature(seed), 60
    slopes = problem.gradients(np.zeros(FEATURES))
    A = problem.x[0].T @ problem.x[0] / ROWS
    np.testing.assert_allclose(
        problem.gradients(np.ones(FEATURES)) - slopes[:1], slopes - slopes[:1] + A.sum(1)
    )
    L = np.linalg.eigvalsh(A)[-1]
    between = max(np.linalg.norm(a - b) for a in slopes for b in slopes)
    best = np.linalg.solve(A, -slopes.mean(0))
    gap = (problem.losses(np.zeros(FEATURES)) - problem.losses(best)).mean()
    eta = fedavg_step_limit(L, [steps] * CLIENTS)
    simulation = Simulation(
        LeastSquares(FEATURES, bias=False),
        problem.data,
        [Replicate(FedAvg())],
        Training(rounds, lr=eta, batch_size=None, steps=steps),
        Computing(device="cpu", dtype="float64"),
    )
    least, ratios = np.inf, []
    for t in range(1, rounds + 1):
        least = min(
            least, float((problem.gradients(simulation.params[0].numpy()).mean(0) ** 2).sum())
        )
        simulation.step()
        printed, repaired = (
            fedavg_convergence(
                gap=gap,
                rounds=t,
                eta=eta,
                L=L,
                steps=[steps] * CLIENTS,
                local=0.0,
                between=between,
                variant=variant,
            ).value
            for variant in ("printed", "repaired")
        )
        assert printed == pytest.approx(repaired)
        assert least <= repaired
        ratios.append(repaired / least)
    # clients of one curvature drift to nowhere: local steps have the same fixed point, and the
    # bound's noise is not met
    assert min(ratios) > 5
