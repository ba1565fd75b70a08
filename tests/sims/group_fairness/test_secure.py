"""Secure sums: no message tells anything of a report, and a bad report names its client."""

import numpy as np
import pytest

from fairfl.sims.engine import secure_masks as secure


def test_messages_are_uniform_whatever_the_reports():
    """Every bit is set half of the time: within five standard deviations, 4,000 rounds."""
    rounds, ids = 4000, np.array([3, 8, 5])
    for rows in (np.zeros((3, 2)), np.full((3, 2), 12345.678)):
        sent = np.array([secure.mask(rows, ids, 7, t) for t in range(rounds)])
        bits = (sent[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        share = bits.mean(axis=0)
        assert np.abs(share - 0.5).max() < 5 * 0.5 / rounds**0.5
    assert len(np.unique(sent)) == sent.size  # no pad is used twice


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0**26])
def test_bad_report_names_its_client(value):
    rows = np.zeros((2, 3))
    rows[1, 2] = value
    with pytest.raises(ValueError, match="of client 6"):
        secure.mask(rows, [4, 6], 0)
