"""Masked updates: the plain sum's step, no message shows an update, bytes are counted."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from federations import Masks
from grouped import EXACT, people, run

from fairfl.sims.engine import secure_masks as secure
from fairfl.sims.engine.secure_sums import OWN, UPDATE
from fairfl.sims.group_fairness import FairBatch, FairFed, FedFB, LocalFairBatch

pytestmark = pytest.mark.exact

MASKED = replace(EXACT, masked_updates=True)
STEP = 3 * 2.0 ** -(secure.FRACTION + 1)
"""What rounding to fixed-point numbers may change in a sum over three clients."""


@pytest.mark.parametrize(
    "algorithm", [FedFB(), FedFB(FairBatch("eo")), FairFed(), LocalFairBatch(average_every=1)]
)
def test_the_step_is_that_of_the_plain_sum(algorithm):
    """The round that is taken from one model: within the fixed point's rounding, which is felt."""
    plain, masked = (
        run(people(), algorithm, 1, computing)[0].params for computing in (EXACT, MASKED)
    )
    assert 0 < (plain - masked).abs().max() <= STEP


def test_what_is_sent_is_masked_and_adds_up(monkeypatch):
    """Messages differ from updates everywhere, and no mask is used twice."""
    sent, mask = [], secure.mask

    def spied(rows, ids, *words):
        messages = mask(rows, ids, *words)
        if UPDATE in words:
            sent.append((np.asarray(rows), messages))
        return messages

    monkeypatch.setattr(secure, "mask", spied)
    simulation, _ = run(people(), FedFB(), 2, MASKED)
    assert len(sent) == 2
    for rows, messages in sent:
        assert rows.shape == (3, simulation.model.size)
        alone = np.rint(rows * 2.0**secure.FRACTION).astype(np.int64).view(np.uint64)
        assert (messages != alone).all()
        np.testing.assert_allclose(secure.unmask(messages), rows.sum(0), atol=STEP, rtol=0)
    assert not any(name.startswith(OWN) for name in simulation.states[0])
    codes = np.concatenate([messages.ravel() for _, messages in sent])
    assert len(np.unique(codes)) == 2 * 3 * simulation.model.size


def test_bytes():
    """Three numbers of 8 bytes from each of three clients in place of 4 bytes in float32; what
    comes down is as it was.

    FedFB reports 2 numbers (from round 1 on), FairFed one in round 0; LFT+Ensemble sends nothing,
    masked or not.
    """
    small = replace(EXACT, dtype="float32")
    cases = ((FedFB(), 1, 2 * 8, True), (FairFed(), 0, 8, True), (LocalFairBatch(), 1, 0, False))
    for algorithm, number, reports, sends in cases:
        for computing, number_bytes in ((small, 4), (replace(small, masked_updates=True), 8)):
            row = run(people(), algorithm, 2, computing)[1][number]
            assert row["bytes_up"] == 3 * ((3 * number_bytes if sends else 0) + reports)
            assert row["bytes_down"] == (3 * 3 * 4 if sends else 0)


def test_with_some_of_the_clients():
    options = {"participation": Masks([True, False, True], [False, False, True])}
    plain, masked = (
        run(people(), FedFB(every=9), 2, computing, **options)[0].params
        for computing in (EXACT, MASKED)
    )
    torch.testing.assert_close(masked, plain, atol=2 * STEP, rtol=0)
