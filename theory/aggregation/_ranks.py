"""Weights by rank: sorts each loss vector, and gives tied clients the mean of their weights."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from fairfl.theory.aggregation._arrays import like, namespace, spread

MOST_BITS = 10  # of the 52 of a float, this many at most are lent to the client's index
TABLE = 256  # up to so many clients, the weights of all runs of ties are tabulated


Knots = tuple[np.ndarray, np.ndarray]


def rank_weights(f: Any, w: np.ndarray, p: Any, knots: Knots, out: Any = None) -> Any:
    """The weight of each client in rows f (r, n): w, given for descending losses, by rank; ties
    share evenly.

    With client weights p, rank k gets W(P_k) - W(P_(k-1)), where P_k is the share p of the k
    largest losses and W the concave piecewise linear function through the ``knots``; tied clients
    share in proportion to p.
    """
    xp = namespace(f)
    result = (
        out if xp is np and out is not None else xp.empty_like(f.detach() if xp is not np else f)
    )
    if f.shape[0] == 0:
        return result
    order, tied, losses = _order(f) if xp is np else _torch_order(f.detach())
    if p is None:
        given, share = like(w, f), None
    else:
        share = p[order % f.shape[-1]]
        reached = xp.cumsum(share, -1)
        reached[:, -1] = 1.0
        total = _interpolated(reached, knots)
        given = like(np.zeros(1), f) + total
        given[:, 1:] = total[:, 1:] - total[:, :-1]
    by_rank = given if given.ndim == 2 else xp.tile(given, (len(order), 1))
    if losses is not None:
        new = xp.ones_like(losses, dtype=xp.bool if xp is not np else np.bool_)
        new[:, 1:] = losses[:, 1:] != losses[:, :-1]
        if not bool(new.all()):
            if share is None and xp is np:
                by_rank[tied] = _even(w, new)
            else:
                by_rank[tied] = spread(
                    by_rank[tied], xp.ones_like(losses) if share is None else share[tied], new
                )
    result.reshape(-1)[order.reshape(-1)] = by_rank.reshape(-1)  # a view: result is contiguous
    return result


Order = tuple[Any, Any, Any]


def _order(f: np.ndarray) -> Order:
    """Flat indices that sort each row descending, the rows in which there may be ties, and these
    rows sorted (or None).

    Integers that order like the floats are sorted, their lowest bits replaced by the client's
    index: several times faster than an argsort. Rows in which two losses agree in all bits kept
    (ties and near-ties) are looked at again.
    """
    r, n = f.shape
    bits = (n - 1).bit_length()
    start = np.arange(0, r * n, n)[:, None]
    if bits > MOST_BITS:
        index = np.argsort(-f, axis=-1) + start
        return index, slice(None), f.reshape(-1)[index]
    # + 0.0: a fresh copy, and -0.0 becomes 0.0
    keys = (f.astype(np.float64, copy=False) + 0.0).view(np.int64)
    if keys.min() < 0:
        keys ^= (keys >> 63) & np.int64(0x7FFFFFFFFFFFFFFF)  # negative floats order backwards
    np.invert(keys, out=keys)  # descending
    keys &= np.int64(-1 << bits)
    keys |= np.arange(n)
    keys.sort(axis=-1)
    index = keys & np.int64((1 << bits) - 1)
    index += start
    keys >>= bits
    flat = keys.reshape(-1)
    # across the ends of rows too, so a hint only, but a fast one
    if not (flat[1:] == flat[:-1]).any():
        return index, None, None
    near = (keys[:, 1:] == keys[:, :-1]).any(-1)
    tied: Any = slice(None) if near.all() else np.flatnonzero(near)
    losses = f.reshape(-1)[index[tied]]
    if (losses[:, 1:] > losses[:, :-1]).any():  # a near-tie in the wrong order
        wrong = np.flatnonzero((losses[:, 1:] > losses[:, :-1]).any(-1))
        rows = wrong if near.all() else np.flatnonzero(near)[wrong]
        index[rows] = np.argsort(-f[rows], axis=-1) + start[rows]
        losses[wrong] = f.reshape(-1)[index[rows]]
    return index, tied, losses if len(losses) else None


def _even(w: np.ndarray, new: np.ndarray) -> np.ndarray:
    """For each rank in rows (r, n) the mean of w over its run; ``new`` marks where runs start."""
    n = len(w)
    starts = np.flatnonzero(new)
    length = np.diff(starts, append=new.size)
    first = starts // n  # a floor division by a scalar is vectorised, a remainder is not
    first *= -n
    first += starts
    if n <= TABLE:
        first *= n
        first += length
        first -= 1
        level = _runs(w.tobytes()).take(first)
    else:
        level = _run_mean(w, first, length)
    return np.repeat(level, length).reshape(new.shape)


def _run_mean(w: np.ndarray, first: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The mean of w over runs of a length, from a rank on.

    The sum over a run is a difference of sums from the end, where the small weights are: nothing
    small is lost.
    """
    tail = np.append(np.cumsum(w[::-1])[::-1], 0.0)
    return np.where(length == 1, w[first], (tail[first] - tail[first + length]) / length)


@lru_cache(maxsize=8)
def _runs(weights: bytes) -> np.ndarray:
    """``_run_mean`` for all runs, at place first * n + length - 1 (0 for runs that would pass the
    end).
    """
    w = np.frombuffer(weights)
    n = len(w)
    first, length = np.indices((n, n))
    inside = first + length < n
    table = np.zeros((n, n))
    table[inside] = _run_mean(w, first[inside], length[inside] + 1)
    return table.reshape(-1)


def _torch_order(f: Any) -> Order:
    xp, (r, n) = namespace(f), f.shape
    ranked, order = xp.sort(f, dim=-1, descending=True)
    tied = (
        (ranked[:, 1:] == ranked[:, :-1]).any(-1)
        if n > 1
        else xp.zeros(r, dtype=xp.bool, device=f.device)
    )
    index = order + xp.arange(0, r * n, n, device=f.device)[:, None]
    return index, tied, ranked[tied] if bool(tied.any()) else None


def _interpolated(x: Any, knots: Knots) -> Any:
    """W(x) for x in [0, 1], linear between the knots."""
    if namespace(x) is np:
        return np.interp(x, *knots).astype(x.dtype, copy=False)
    at, height = (like(knot, x) for knot in knots)
    k = (namespace(x).searchsorted(at, x.contiguous(), right=True) - 1).clamp(0, len(at) - 2)
    return height[k] + (x - at[k]) * ((height[k + 1] - height[k]) / (at[k + 1] - at[k]))
