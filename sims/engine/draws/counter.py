"""Random numbers by counter: a number is a function of its purpose, not of earlier draws.

So a client's minibatches depend on the seed, the round and the client alone: neither on the order
of the clients, nor on which others share its chunk, nor on where a killed run was taken up again.
The function is the finaliser of SplitMix64 (Steele, Lea and Flood 2014; Stafford's variant 13),
chained over the words.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Words = NDArray[np.uint64]

CONSTANTS = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 30, 27, 31
# arrays of no dimension, with which numpy computes faster than with numbers
GOLDEN, FIRST, SECOND, *SHIFTS = (np.array(constant, np.uint64) for constant in CONSTANTS)

ORDER, PARTICIPATION, DROPOUT, STRAGGLER, EFFORT = range(5)
"""Purpose of a random number: the first word after the seed."""


def mix(z: Words) -> Words:
    """SplitMix64's finaliser, a bijection of 64-bit words; ``z`` (an array) is overwritten."""
    z ^= z >> SHIFTS[0]
    z *= FIRST
    z ^= z >> SHIFTS[1]
    z *= SECOND
    z ^= z >> SHIFTS[2]
    return z


def key(*words: ArrayLike) -> Words:
    """One 64-bit key for each tuple of words (whole numbers >= 0), broadcast; at least 1-d."""
    prefix, remaining = 0, list(words)
    while remaining and isinstance(word := remaining[0], int):
        prefix = _mixed(prefix ^ _mixed(word))
        del remaining[0]
    keys = np.array([prefix], np.uint64)
    for word in remaining:
        keys = following(keys, hashed(word))
    return keys


def hashed(words: ArrayLike) -> Words:
    """The words as ``following`` takes them; at least 1-d."""
    return mix(np.array(words, np.uint64, ndmin=1) + GOLDEN)


def following(keys: Words, hashed: Words) -> Words:
    """The keys of the words of ``keys`` and one more, which is ``hashed``."""
    return mix((hashed ^ keys) + GOLDEN)


@lru_cache(1 << 10)
def _mixed(word: int) -> int:
    """``mix(word + GOLDEN)`` of one number, in a tenth of the time."""
    golden, first, second, *shifts = CONSTANTS
    z = (word + golden) % 2**64
    z = (z ^ z >> shifts[0]) * first % 2**64
    z = (z ^ z >> shifts[1]) * second % 2**64
    return z ^ z >> shifts[2]


def uniforms(keys: Words) -> NDArray[np.float64]:
    """Numbers in (0, 1), 52 bits each: the midpoints of 2^52 cells, which all are floats."""
    return ((keys >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
