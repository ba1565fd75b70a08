"""The order of a client's samples: a permutation for each client, round and pass, by counter."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.task import Ints

RANDOM = np.array(0xFFFFFFFF00000000, np.uint64)
"""The random bits of a word that is sorted."""


class Passes(NamedTuple):
    """Passes over clients' samples (n,): the job, the number of the pass (``counter.hashed``), its
    samples, and the random bits of a word: RANDOM, or 0 where no order is drawn.
    """

    job: Ints
    number: counter.Words
    length: Ints
    bits: counter.Words

    @classmethod
    def of(cls, sizes: Ints, first_pass: Ints, passes: Ints, shuffled: NDArray[np.bool_]) -> Passes:
        """Passes first_pass[j] to first_pass[j] + passes[j] - 1 of each j; all arguments (J,)."""
        job = np.repeat(np.arange(len(sizes)), passes)
        shift = np.cumsum(passes) - passes - first_pass
        number = counter.hashed(np.arange(len(job)) - shift[job])
        return cls(job, number, sizes[job], shuffled[job] * RANDOM)


def orders(keys: counter.Words, passes: Passes) -> Ints:
    """Permutations of 0..length-1, one a pass, concatenated; ``keys`` (J,) are the clients'.

    A permutation depends on the client's key, the number of the pass and its length alone. Where
    no bits are random it is the identity: a batch of all samples has no order worth drawing.
    Each sample gets 32 random bits, and ties go by the sample's number: the bias is below n²/2^33.
    """
    length, bits = passes.length, passes.bits
    if not bits.any():
        return _ramps(length)
    words = counter.following(counter.key(keys)[passes.job], passes.number)
    if (length != length[0]).any():
        return _sorted(words, length, bits)
    samples = np.arange(length[0], dtype=np.uint64)  # a row each: a tenth of a round's time less
    words = counter.mix(words[:, None] + samples * counter.GOLDEN)
    words &= bits[:, None]
    words |= samples
    words.sort(axis=1)
    words &= ~RANDOM
    return words.view(np.int64).ravel()


def device_orders(keys: counter.Words, passes: Passes, first: Ints, device: torch.device) -> Tensor:
    """The same permutations drawn on a GPU, each plus the ``first`` (J,) row of its client.

    One row a pass is sent to the GPU, not one a sample. Words are int64 there: with the sign bit
    flipped they sort as uint64.
    """
    words = counter.following(counter.key(keys)[passes.job], passes.number)
    columns = words.view(np.int64), passes.bits.view(np.int64), passes.length, first[passes.job]
    words, bits, length, start = torch.from_numpy(np.stack(columns)).to(device).unbind()
    n_samples = int(passes.length.sum())
    per_sample = partial(torch.repeat_interleave, repeats=length, output_size=n_samples)
    sample = torch.arange(n_samples, device=device).sub_(per_sample(length.cumsum(0) - length))
    if not passes.bits.any():
        return sample.add_(per_sample(start))
    words = _mix(per_sample(words).add_(sample, alpha=_signed(int(counter.GOLDEN))))
    words = words.bitwise_and_(per_sample(bits)).bitwise_xor_(-(1 << 63)).bitwise_or_(sample)
    by_word = words.sort().indices
    del words
    pass_index = per_sample(torch.arange(len(length), device=device, dtype=torch.int32))
    by_pass = pass_index[by_word].sort(stable=True).indices
    return sample[by_word[by_pass]].add_(per_sample(start))


def _mix(z: Tensor) -> Tensor:
    """``counter.mix`` of int64, whose shifts to the right bring in the sign; overwrites ``z``."""
    for shift, factor in zip(counter.CONSTANTS[3:], (*counter.CONSTANTS[1:3], 1), strict=True):
        z ^= (z >> shift).bitwise_and_((1 << 64 - shift) - 1)
        z *= _signed(factor)
    return z


def _signed(word: int) -> int:
    """A word as int64."""
    return word - (word >> 63 << 64)


def _ramps(length: Ints) -> Ints:
    """0..length[0]-1, 0..length[1]-1, ..."""
    return np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)


def _sorted(keys: counter.Words, length: Ints, bits: counter.Words) -> Ints:
    """Sort words of (segment,) random bits and sample: far faster than an argsort."""
    longest, count = int(length.max()), len(keys)
    sample_bits = max(1, (longest - 1).bit_length())
    if sample_bits + (count - 1).bit_length() > 32:  # no room beside the random bits
        halves = slice(0, count // 2), slice(count // 2, None)
        return np.concatenate([_sorted(keys[half], length[half], bits[half]) for half in halves])
    sample = _ramps(length).astype(np.uint64)
    words = counter.mix(np.repeat(keys, length) + sample * counter.GOLDEN)
    words &= np.repeat(bits, length)
    words >>= np.uint64(32)
    words |= np.repeat(np.arange(count, dtype=np.uint64) << np.uint64(32), length)
    words <<= np.uint64(sample_bits)
    words |= sample
    words.sort()
    words &= np.uint64((1 << sample_bits) - 1)
    return words.view(np.int64)
