"""The two orders of p-FedAvg's rank weights."""

import numpy as np
import pytest
import torch

from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.engine import Received, Training
from fairfl.studies.crosscheck.step_problems import synthetic_softmax
from fairfl.studies.papers.pffl import table_1 as pffl_table_1
from fairfl.studies.papers.pffl.reversed_ranks import ReversedRanks


def received(losses):
    n = len(losses)
    p = np.full(n, 1 / n)
    rows, once = torch.zeros(n, 1), np.ones(n, int)
    return Received(0, np.arange(n), p, p, rows[0], 0.1, np.array(losses), {}, rows, draws=once)


@pytest.mark.parametrize("ranks", pffl_table_1.RANKS.values(), ids=list(pffl_table_1.RANKS))
def test_the_same_weights_from_the_other_end(ranks):
    losses = received([0.3, 2.0, 0.7, 1.1])
    right, wrong = PFedAvg(ranks).server(losses).weights, ReversedRanks(ranks).server(losses).weights
    order = np.argsort(losses.known_losses())
    assert (np.diff(right[order]) > 0).all()  # the largest loss has the largest weight
    assert wrong[order] == pytest.approx(right[order][::-1])


def test_the_wrong_order_is_no_algorithm_of_ours():
    assert ReversedRanks not in algorithms().values()


@pytest.mark.parametrize("seed", [0, 1])
def test_the_wrong_order_serves_the_best_off(seed):
    """100 full steps on Synthetic, 20 devices, at a rate at which losses fall: reversed, each rank weight leaves the
    worst tenth with losses a sixth higher at least (three tenths and more are seen), and all losses with a variance 1.4
    times as large (1.8 and more). At the table's own rate and batches runs part by rounding: of one seed's last round,
    1e-7 at the start moves the variance by a tenth and more."""
    world, q = synthetic_softmax(seed), 1.0
    simulation = world.simulation(
        pffl_table_1.algorithms(q), Training(100, lr=world.lr, batch_size=None, steps=1), seed
    )
    while not simulation.done:
        simulation.step()
    losses = {
        name: np.sort(world.losses(params))
        for name, params in zip(pffl_table_1.objectives(q), simulation.params.numpy(), strict=True)
    }
    for name, backwards in pffl_table_1.BACKWARDS.items():
        assert losses[backwards][-2:].mean() > 7 / 6 * losses[name][-2:].mean()
        assert losses[backwards].var() > 1.4 * losses[name].var()
