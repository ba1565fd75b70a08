"""Local fair training: one client's FairBatch, and its average."""

import numpy as np
import pytest
from grouped import people, run

from fairfl.sims.engine import Parts, Training
from fairfl.sims.engine.task import as_floats
from fairfl.sims.group_fairness import FairBatch, FedFB, LocalFairBatch
from fairfl.sims.group_fairness.lft import LAM, MODELS

pytestmark = pytest.mark.exact


@pytest.mark.parametrize("notion", ["dp", "eo", "eodds"])
def test_each_member_of_the_ensemble_is_fairbatch_on_its_client(notion):
    parts, rule = people(groups=3), FairBatch(notion, 0.2)
    ensemble, rows = run(parts, LocalFairBatch(rule), 6)
    assert all(row["bytes_up"] == row["bytes_down"] == 0 for row in rows)
    for k in range(3):
        single, _ = run(Parts(parts.train.take([k])), FedFB(rule), 6)
        np.testing.assert_allclose(ensemble.states[0][MODELS][k], single.params[0], atol=1e-9)
        np.testing.assert_allclose(ensemble.states[0][LAM][k], single.states[0]["lam"], atol=1e-9)


def test_average_and_what_follows_it():
    """After E rounds w is the mean by size, where the next models start, each with its λ."""
    parts, rule = people(), FairBatch("dp", 0.2)
    p = parts.train.sizes / parts.train.sizes.sum()
    averaged, local = (run(parts, LocalFairBatch(rule, period), 3)[0] for period in (3, None))
    np.testing.assert_allclose(averaged.params[0], p @ local.states[0][MODELS].numpy(), atol=1e-12)
    np.testing.assert_allclose(averaged.states[0][LAM], local.states[0][LAM], atol=1e-9)
    lam = as_floats(averaged.states[0][LAM])
    assert len(np.unique(lam.round(6), axis=0)) == 3
    before = averaged.params[0].clone()
    settings = Training(rounds=4, lr=1e-9, batch_size=None, epochs=1)
    averaged.training, averaged.rates = settings, [(1e-9, 0.0, 0.0, 1.0)]
    averaged.step()
    np.testing.assert_allclose(averaged.states[0][MODELS], before.expand(3, -1), atol=1e-7)
    np.testing.assert_array_equal(averaged.params[0], before)  # no average in this round
