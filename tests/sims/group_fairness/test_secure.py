"""Secure sums: the sum comes out, and no message tells anything of a report."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.engine import masks as secure
from fairfl.sims.engine.draws import counter


@given(st.integers(1, 7), st.integers(0, 5), st.integers(0, 10**6))
def test_sum(clients, width, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(scale=10.0 ** rng.integers(-6, 4), size=(clients, width))
    ids = rng.permutation(50)[:clients]
    total = secure.unmask(secure.mask(rows, ids, seed, 1))
    off = clients * 2.0 ** -(secure.FRACTION + 1) + 1e-11
    np.testing.assert_allclose(total, rows.sum(0), atol=off, rtol=0)


def test_messages_are_uniform_whatever_the_reports():
    """Every bit is set half of the time: within five standard deviations, 4,000 rounds."""
    rounds, ids = 4000, np.array([3, 8, 5])
    for rows in (np.zeros((3, 2)), np.full((3, 2), 12345.678)):
        sent = np.array([secure.mask(rows, ids, 7, t) for t in range(rounds)])
        bits = (sent[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        share = bits.mean(axis=0)
        assert np.abs(share - 0.5).max() < 5 * 0.5 / rounds**0.5
    assert len(np.unique(sent)) == sent.size  # no pad is used twice


def test_all_messages_but_one_fit_any_reports():
    """Two of three messages, shifted by other reports' difference, are what those reports send
    under other pads.

    So given any k - 1 messages every set of reports is as likely as another: here the pads' sum is
    0, and any two of them, of three, are independent.
    """
    pads = np.array([secure.mask(np.zeros((3, 1)), [0, 1, 2], 1, t)[:, 0] for t in range(4000)])
    assert (pads.sum(axis=1, dtype=np.uint64) == 0).all()
    top = (pads >> np.uint64(63)).astype(int)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        counts = np.bincount(2 * top[:, i] + top[:, j], minlength=4)
        assert ((counts - 1000) ** 2 / 1000).sum() < 25  # chi-square with 3 degrees: 1.5e-5


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0**26])
def test_bad_report_names_its_client(value):
    rows = np.zeros((2, 3))
    rows[1, 2] = value
    with pytest.raises(ValueError, match="of client 6"):
        secure.mask(rows, [4, 6], 0)


@given(st.integers(0, 9), st.integers(0, 4), st.integers(0, 10**6))
def test_messages_are_the_formula(clients, width, seed):
    rng = np.random.default_rng(seed)
    rows, ids = rng.normal(size=(clients, width)), rng.permutation(50)[:clients]
    expected = np.rint(rows * 2.0**secure.FRACTION).astype(np.int64).astype(object)
    for i in range(clients):
        for j in range(clients):
            for s in range(width):
                low, high = sorted((int(ids[i]), int(ids[j])))
                pad = int(counter.key(seed, 5, low, high, s)[0]) * (i != j)
                expected[i, s] += pad if ids[i] == low else -pad
    expected = (expected % 2**64).astype(np.uint64)
    np.testing.assert_array_equal(secure.mask(rows, ids, seed, 5), expected)
