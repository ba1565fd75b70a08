"""The order of a client's samples: a permutation for each client, round and pass, by counter."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.remembered import remembered

Ints = NDArray[np.int64]
MOST = 1 << 22  # samples sorted at a time
scattered = remembered(counter.scattered)


class Passes(NamedTuple):
    """Passes over clients' samples (n,): whose, which of the client's, over how many samples, and
    whether in an order that is drawn.
    """

    job: Ints
    number: Ints
    length: Ints
    shuffled: NDArray[np.bool_]

    @classmethod
    def of(cls, sizes: Ints, first: Ints, passes: Ints, shuffled: NDArray[np.bool_]) -> Passes:
        """The passes first[j] to first[j] + passes[j] - 1 of each j; all arguments are (J,)."""
        job = np.repeat(np.arange(len(sizes)), passes)
        before = np.cumsum(passes) - passes - first
        return cls(job, np.arange(len(job)) - before[job], sizes[job], shuffled[job])

    def words(self, keys: counter.Words) -> counter.Words:
        """A key of each pass, of those of the clients (J,)."""
        return counter.following(counter.key(keys)[self.job], scattered(self.number))


def orders(keys: counter.Words, passes: Passes, apart: bool = False) -> Ints:
    """Permutations of 0..length-1, one a pass, concatenated; ``keys`` (J,) are the clients'.

    A permutation depends on the client's key, the number of the pass and its length alone. Where
    ``shuffled`` is false it is the identity: a batch of all samples has no order worth drawing.
    Each sample gets 32 random bits, and ties go by the sample's number: the bias is below n²/2^33.
    What is asked for several times, as replicates of one seed do, is drawn once, unless all keys
    are ``apart``.
    """
    length, shuffled = passes.length, passes.shuffled
    if not shuffled.any():
        return _ramps(length)
    words = passes.words(keys)
    ascending = words[:0] if apart else np.sort(words)
    if (ascending[1:] != ascending[:-1]).all():
        return _drawn(words, length, shuffled)
    _, some, where = np.unique(words, return_index=True, return_inverse=True)
    once = length[some], shuffled[some]
    if (once[0][where] != length).any() or (once[1][where] != shuffled).any():
        return _drawn(words, length, shuffled)
    return _repeated(_drawn(words[some], *once), once[0], where)


def _repeated(drawn: Ints, lengths: Ints, which: Ints) -> Ints:
    """Runs ``which`` of ``drawn``, whose runs have these lengths."""
    if (lengths == lengths[0]).all():
        return drawn.reshape(len(lengths), -1)[which].ravel()
    runs = np.split(drawn, np.cumsum(lengths)[:-1])
    return np.concatenate([runs[i] for i in which])


def _drawn(words: counter.Words, length: Ints, shuffled: NDArray[np.bool_]) -> Ints:
    """``orders`` of passes with these words, which may all differ."""
    if int(length.sum()) <= MOST:
        return _sorted(words, length, shuffled)
    parts, start = [], 0
    ends = np.cumsum(length)
    while start < len(words):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + MOST, side="right")))
        part = slice(start, stop)
        parts.append(_sorted(words[part], length[part], shuffled[part]))
        start = stop
    return np.concatenate(parts)


def _ramps(length: Ints) -> Ints:
    """0..length[0]-1, 0..length[1]-1, ..."""
    if len(length) and (length == length[0]).all():
        return np.tile(np.arange(length[0]), len(length))
    return np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)


@lru_cache(maxsize=4)
def _samples(count: int) -> tuple[counter.Words, counter.Words]:
    """0..count-1, and their multiples of the stride."""
    sample = np.arange(count, dtype=np.uint64)
    return sample, sample * counter.GOLDEN


def _sorted(keys: counter.Words, length: Ints, shuffled: NDArray[np.bool_]) -> Ints:
    """Sort words of (segment,) random bits and sample: numpy's sort of whole words is far faster
    than its argsort.
    """
    most, count = int(length.max()), len(length)
    sample_bits = max(1, (most - 1).bit_length())
    if (length == most).all():
        sample, strides = _samples(most)
        words = counter.mix(keys[:, None] + strides)
        words >>= np.uint64(32)
        words <<= np.uint64(sample_bits)
        if not shuffled.all():
            words[~shuffled] = 0
        words |= sample
        words.sort(axis=1)
        words &= np.uint64((1 << sample_bits) - 1)
        return words.view(np.int64).ravel()
    # the segment's number has no room beside the random bits
    if sample_bits + (count - 1).bit_length() > 32:
        if count == 1:
            raise ValueError(f"a client must have at most 2^32 samples, got {most}")
        half = count // 2
        return np.concatenate(
            [
                _sorted(keys[:half], length[:half], shuffled[:half]),
                _sorted(keys[half:], length[half:], shuffled[half:]),
            ]
        )
    segment = np.repeat(np.arange(count, dtype=np.uint64), length)
    sample = _ramps(length).astype(np.uint64)
    words = counter.mix(np.repeat(keys, length) + sample * counter.GOLDEN)
    words >>= np.uint64(32)
    if not shuffled.all():
        words[np.repeat(~shuffled, length)] = 0
    words |= segment << np.uint64(32)
    words <<= np.uint64(sample_bits)
    words |= sample
    words.sort()
    words &= np.uint64((1 << sample_bits) - 1)
    return words.view(np.int64)
