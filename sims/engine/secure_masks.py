"""Secure aggregation: the server adds up masked reports, and learns the sum alone."""

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.draws.counter import Words

FRACTION = 36
"""Bits after the point: a report is a multiple of 2^-36, a sum of k right within k 2^-37."""
BITS = 64
"""Bits of one masked number in a message."""
LARGEST = 2.0 ** (BITS - 2 - FRACTION)
"""Each of k reports must be below this over k, so that no sum overflows."""
WORDS = 1 << 20
"""Masks made at a time, at least those of one client: 10,000 clients have 100 million."""


def mask(rows: ArrayLike, ids: ArrayLike, *words: int) -> Words:
    """What k clients send (k, S): fixed-point numbers modulo 2^64 plus masks that cancel in the
    sum.

    .. math:: z_i = x_i + \\sum_{j > i} m_{ij} - \\sum_{j < i} m_{ji} \\pmod{2^{64}}

    Each pair of clients shares the key of a mask m_ij, uniform on the words; so the messages of any
    k - 1 clients are uniform and independent of all reports, and all k messages tell the sum and
    nothing else. One client alone has no partner: its sum is its report. The keys stand for a key
    agreement; recovery of dropouts is not modelled.

    Parameters
    ----------
    rows : (k, S) reports, finite, below 2^26 / k in size.
    ids : (k,) distinct ids of the clients.
    words : what the keys depend on: seed, round, purpose.

    Errors: ValueError for a report that is not finite or too large, naming the client.
    Source: Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning
    (CCS 2017), section 4.
    """
    values = np.asarray(rows, dtype=np.float64)
    names = np.asarray(ids, dtype=np.int64)
    limit = LARGEST / max(1, len(names))
    is_invalid = ~(np.abs(values) < limit)
    if is_invalid.any():
        k, s = np.argwhere(is_invalid)[0]
        raise ValueError(
            f"reports must be finite and below {limit:g}, got {values[k, s]} of client {names[k]}"
        )
    sent = np.rint(values * 2.0**FRACTION).astype(np.int64).view(np.uint64)
    slots, rising = np.arange(values.shape[1]), np.argsort(names)
    step = max(1, WORDS // max(1, values.size))
    for first in range(0, len(names) - 1, step):  # the masks of some clients with larger ids
        block, larger = rising[first : first + step], rising[first + 1 :]
        pads = counter.key(*words, names[block, None, None], names[larger, None], slots)
        pads *= np.triu(np.ones((len(block), len(larger)), np.uint64))[..., None]
        sent[block] += pads.sum(axis=1)
        sent[larger] -= pads.sum(axis=0)
    return sent


def unmask(sent: Words) -> Array:
    """The server's side: the sum (S,) of the reports, from the messages (k, S)."""
    return sent.sum(axis=0, dtype=np.uint64).view(np.int64).astype(np.float64) * 2.0**-FRACTION
