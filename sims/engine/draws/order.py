"""The order of a client's samples: a permutation for each client, round and pass, by counter."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.task import Ints


@dataclass(frozen=True, eq=False)
class Passes:
    """Passes over clients' samples (n,): whose, which of the client's, over how many samples, and
    whether in an order that is drawn.

    What follows from these alone is found once, for as long as the passes are kept.
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

    def some(self, which: slice) -> Passes:
        """A part of the passes."""
        return Passes(*(getattr(self, field.name)[which] for field in fields(self)))

    @cached_property
    def samples(self) -> int:
        """Of all passes together."""
        return int(self.length.sum())

    @cached_property
    def alike(self) -> bool:
        """Whether all have the same number of samples."""
        return bool((self.length == self.length[:1]).all())

    @cached_property
    def drawn(self) -> bool:
        """Whether any is in an order that is drawn."""
        return bool(self.shuffled.any())

    @cached_property
    def fixed(self) -> NDArray[np.bool_] | None:
        """Which are not, None where all are."""
        return None if self.shuffled.all() else ~self.shuffled

    @cached_property
    def numbers(self) -> counter.Words:
        """``number``, scattered."""
        return counter.scattered(self.number)

    def words(self, keys: counter.Words) -> counter.Words:
        """A key of each pass, of those of the clients (J,)."""
        return counter.following(counter.key(keys)[self.job], self.numbers)


def orders(keys: counter.Words, passes: Passes) -> Ints:
    """Permutations of 0..length-1, one a pass, concatenated; ``keys`` (J,) are the clients'.

    A permutation depends on the client's key, the number of the pass and its length alone. Where
    ``shuffled`` is false it is the identity: a batch of all samples has no order worth drawing.
    Each sample gets 32 random bits, and ties go by the sample's number: the bias is below n²/2^33.
    """
    if not passes.drawn:
        return _ramps(passes)
    return _sorted(passes.words(keys), passes)


def _ramps(passes: Passes) -> Ints:
    """0..length[0]-1, 0..length[1]-1, ..."""
    length = passes.length
    if len(length) and passes.alike:
        return np.tile(np.arange(length[0]), len(length))
    return np.arange(passes.samples) - np.repeat(np.cumsum(length) - length, length)


def _sorted(keys: counter.Words, passes: Passes) -> Ints:
    """Sort words of (segment,) random bits and sample: far faster than an argsort."""
    length, fixed, count = passes.length, passes.fixed, len(keys)
    most = int(length.max())
    sample_bits = max(1, (most - 1).bit_length())
    if passes.alike:
        sample = np.arange(most, dtype=np.uint64)
        words = counter.mix(keys[:, None] + sample * counter.GOLDEN)
        words >>= np.uint64(32)
        words <<= np.uint64(sample_bits)
        if fixed is not None:
            words[fixed] = 0
        words |= sample
        words.sort(axis=1)
        words &= np.uint64((1 << sample_bits) - 1)
        return words.view(np.int64).ravel()
    # the segment's number has no room beside the random bits
    if sample_bits + (count - 1).bit_length() > 32:
        if count == 1:
            raise ValueError(f"a client must have at most 2^32 samples, got {most}")
        halves = slice(0, count // 2), slice(count // 2, None)
        return np.concatenate([_sorted(keys[half], passes.some(half)) for half in halves])
    segment = np.repeat(np.arange(count, dtype=np.uint64), length)
    sample = _ramps(passes).astype(np.uint64)
    words = counter.mix(np.repeat(keys, length) + sample * counter.GOLDEN)
    words >>= np.uint64(32)
    if fixed is not None:
        words[np.repeat(fixed, length)] = 0
    words |= segment << np.uint64(32)
    words <<= np.uint64(sample_bits)
    words |= sample
    words.sort()
    words &= np.uint64((1 << sample_bits) - 1)
    return words.view(np.int64)
