"""The roundings of tests/helpers/perturbed.py: each is felt, is as small as it says, and ends."""

import pytest
import torch
from federations import classified, quick
from perturbed import KINDS, perturbed

from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import MLP, Computing, Replicate, Simulation

pytestmark = pytest.mark.exact


def ended(dtype):
    """Parameters after a short run."""
    computing, training = Computing(device="cpu", dtype=dtype), quick(rounds=3, batch_size=10)
    simulation = Simulation(
        MLP((4, 5, 3)), classified((40, 25, 60)), [Replicate(QFedAvg(1.0))], training, computing
    )
    while not simulation.done:
        simulation.step()
    return simulation.params


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_ends_elsewhere_but_near(kind):
    dtype = "float32" if kind == "float64" else "float64"
    plain = ended(dtype)
    with perturbed(kind):
        moved = ended(dtype)
    assert 1e-9 <= float((moved - plain).abs().max()) <= 1e-4
    assert moved.dtype == (getattr(torch, kind) if kind.startswith("float") else plain.dtype)
    assert torch.equal(ended(dtype), plain)
