"""Secure aggregation: the server adds up masked reports, and learns the sum alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl._support.checks import Array
from fairfl.sims.engine.draws import counter

FRACTION = 36
"""Bits after the point: a report is a multiple of 2^-36, a sum of k right within k 2^-37."""
BITS = 64
"""What one masked number takes on the wire."""
LARGEST = 2.0 ** (BITS - 2 - FRACTION)
"""k reports must each be below this over k: then no sum of them comes round."""

PAIRS = 1 << 20
"""Masks made at a time: 10,000 clients have 50 million pairs."""

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


def mask(
    rows: ArrayLike, ids: ArrayLike, *words: int, column: int = 0, others: ArrayLike = ()
) -> Words:
    """What k clients send (k, S): fixed-point numbers modulo 2^64 plus masks that cancel in the
    sum.

    .. math:: z_i = x_i + \\sum_{j > i} m_{ij} - \\sum_{j < i} m_{ji} \\pmod{2^{64}}

    Each pair of clients shares the key of a mask m_ij, uniform on the words; so the messages of any
    k - 1 clients are uniform and independent of all reports, and all k messages tell the sum and
    nothing else. One client alone has no partner: its sum is its report. The keys stand for a key
    agreement; recovery of dropouts is not modelled.

    Parameters
    ----------
    rows : array (k, S)
        Reports, finite, below 2^26 / k in size.
    ids : array of int (k,)
        Distinct ids of the clients.
    words : int
        What the keys depend on: seed, round, purpose.
    column : int
        The place of the first column, of reports that are masked some columns at a time.
    others : array of int
        Distinct ids of those who add to the sum too, and whose messages are made apart.

    Errors: ValueError for a report that is not finite or too large, naming the client.
    Source: Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning
    (CCS 2017), section 4.
    """
    values = np.asarray(rows, dtype=np.float64)
    names, away = (np.asarray(who, dtype=np.int64) for who in (ids, others))
    limit = LARGEST / max(1, len(names) + len(away))
    bad = ~(np.abs(values) < limit)
    if bad.any():
        k, s = np.argwhere(bad)[0]
        raise ValueError(
            f"reports must be finite and below {limit:g}, got {values[k, s]} of client {names[k]}"
        )
    sent = np.rint(values * 2.0**FRACTION).astype(np.int64).view(np.uint64)
    count, width = values.shape
    begin, slots = 0, np.arange(column, column + width)
    # the pairs of some clients with all that are listed after them
    while begin < count - 1 and width:
        end = min(count - 1, begin + max(1, PAIRS // ((count - begin) * width)))
        first, second = np.nonzero(np.arange(begin, end)[:, None] < np.arange(begin, count))
        pads = _pads(names[begin + first][:, None], names[begin + second][:, None], words, slots)
        edges = np.flatnonzero(np.append(True, np.diff(first) > 0))
        sent[begin:end] += np.add.reduceat(pads, edges, axis=0)
        table = np.zeros((end - begin, count - begin, width), dtype=np.uint64)
        table[first, second] = pads
        sent[begin:] -= table.sum(axis=0, dtype=np.uint64)
        begin = end
    step = max(1, PAIRS // max(1, count * width))
    for some in np.split(away, np.arange(step, len(away), step)) if width else ():
        sent += _pads(names[:, None, None], some[:, None], words, slots).sum(1, dtype=np.uint64)
    return sent


def _pads(one: Ints, other: Ints, words: tuple[int, ...], slots: Ints) -> Words:
    """What ``one`` adds for its mask with ``other``."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    pads = counter.key(*words, low, high, slots)
    return np.where(one < other, pads, np.uint64(0) - pads)


def unmask(sent: Words) -> Array:
    """The server's side: the sum (S,) of the reports, from the messages (k, S)."""
    return sent.sum(axis=0, dtype=np.uint64).view(np.int64).astype(np.float64) * 2.0**-FRACTION
