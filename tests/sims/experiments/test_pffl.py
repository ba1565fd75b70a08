"""The two orders of p-FedAvg's rank weights."""

import numpy as np
import pytest
import torch

from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.engine import Received
from fairfl.sims.experiments import Scale, pffl_table_1, run_units
from fairfl.sims.experiments.reversed_ranks import ReversedRanks


def received(losses):
    n = len(losses)
    p = np.full(n, 1 / n)
    return Received(0, np.arange(n), p, p, torch.zeros(1), 0.1, np.array(losses), {}, torch.zeros(n, 1))


@pytest.mark.parametrize("ranks", pffl_table_1.RANKS.values(), ids=list(pffl_table_1.RANKS))
def test_the_same_weights_from_the_other_end(ranks):
    losses = received([0.3, 2.0, 0.7, 1.1])
    right, wrong = PFedAvg(ranks).server(losses).weights, ReversedRanks(ranks).server(losses).weights
    order = np.argsort(losses.known_losses())
    assert (np.diff(right[order]) > 0).all()  # the largest loss has the largest weight
    assert wrong[order] == pytest.approx(right[order][::-1])


def test_the_wrong_order_is_no_algorithm_of_ours():
    assert ReversedRanks not in algorithms().values()


def test_the_wrong_order_serves_the_best_off(tiny, monkeypatch):
    """Synthetic, 60 rounds: the worst tenth of the devices is better off under each rank weight than reversed."""
    monkeypatch.setattr(pffl_table_1, "ROUNDS", {"Synthetic": (60, 60), "Vehicle": (1, 1)})
    units = [unit for unit in pffl_table_1.units(Scale("quick", 1)) if unit.dataset == "Synthetic"]
    found = pffl_table_1.values(run_units(units)).set_index(["objective", "measure"])["value"]
    for name, backwards in pffl_table_1.BACKWARDS.items():
        assert found[name, "variance"] < found[backwards, "variance"]
