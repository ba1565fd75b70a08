"""Sorting each loss vector and giving each client the weight of its rank, tied clients alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfl.theory.aggregation._arrays import like, namespace, spread

MOST_BITS = 10  # of the 52 of a float, this many at most are lent to the client's index


Knots = tuple[np.ndarray, np.ndarray]


def rank_weights(f: Any, w: np.ndarray, p: Any, knots: Knots, out: Any = None) -> Any:
    """The weight of each client in rows f (r, n): w, given for descending losses, by rank; ties share evenly.

    With client weights p, rank k gets W(P_k) - W(P_(k-1)), where P_k is the share p of the k largest losses and W the
    concave piecewise linear function through the ``knots``; tied clients share in proportion to p.
    """
    xp = namespace(f)
    result = out if xp is np and out is not None else xp.empty_like(f.detach() if xp is not np else f)
    if f.shape[0] == 0:
        return result
    order, tied = _order(f) if xp is np else _torch_order(f.detach())
    if p is None:
        given, share = like(w, f), None
    else:
        share = p[order % f.shape[-1]]
        reached = xp.cumsum(share, -1)
        reached[:, -1] = 1.0
        total = _interpolated(reached, knots)
        given = like(np.zeros(1), f) + total
        given[:, 1:] = total[:, 1:] - total[:, :-1]
    flat = result.reshape(-1)  # a view: result is contiguous
    flat[order.reshape(-1)] = (given if given.ndim == 2 else xp.tile(given, (len(order), 1))).reshape(-1)
    if bool(tied.any()):
        rows = order[tied]
        losses = f.reshape(-1)[rows] if xp is np else f.detach().reshape(-1)[rows]
        new = xp.ones_like(losses, dtype=xp.bool if xp is not np else np.bool_)
        new[:, 1:] = losses[:, 1:] != losses[:, :-1]
        if not bool(new.all()):
            if share is None and xp is np:
                shared = _even(w, new)
            else:
                mine = given[tied] if given.ndim == 2 else xp.zeros_like(losses) + given
                shared = spread(mine, xp.ones_like(losses) if share is None else share[tied], new)
            flat[rows.reshape(-1)] = shared.reshape(-1)
    return result


def _order(f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Flat indices that sort each row descending, and the rows in which there may be ties.

    Integers that order like the floats are sorted, their lowest bits replaced by the client's index: several times
    faster than an argsort. Rows in which two losses agree in all bits kept (ties and near-ties) are looked at again.
    """
    r, n = f.shape
    bits = (n - 1).bit_length()
    start = np.arange(0, r * n, n)[:, None]
    if bits > MOST_BITS:
        return np.argsort(-f, axis=-1) + start, np.ones(r, dtype=bool)
    keys = (f.astype(np.float64, copy=False) + 0.0).view(np.int64)  # + 0.0: a fresh copy, and -0.0 becomes 0.0
    if keys.min() < 0:
        keys ^= (keys >> 63) & np.int64(0x7FFFFFFFFFFFFFFF)  # negative floats order backwards
    np.invert(keys, out=keys)  # descending
    keys &= np.int64(-1 << bits)
    keys |= np.arange(n)
    keys.sort(axis=-1)
    index = keys & np.int64((1 << bits) - 1)
    index += start
    keys >>= bits
    near = np.zeros(r, dtype=bool)
    flat = keys.reshape(-1)
    if (flat[1:] == flat[:-1]).any():  # across the ends of rows too, so a hint only, but a fast one
        near = (keys[:, 1:] == keys[:, :-1]).any(-1)
        rows = np.flatnonzero(near)
        losses = f.reshape(-1)[index[rows]]
        wrong = rows[(losses[:, 1:] > losses[:, :-1]).any(-1)]  # a near-tie in the wrong order
        if wrong.size:
            index[wrong] = np.argsort(-f[wrong], axis=-1) + start[wrong]
    return index, near


def _even(w: np.ndarray, new: np.ndarray) -> np.ndarray:
    """For each rank in rows (r, n) the mean of w over its run; ``new`` marks where runs start.

    The sum over a run is a difference of sums from the end, where the small weights are: nothing small is lost.
    """
    n = len(w)
    starts = np.flatnonzero(new)
    length = np.diff(starts, append=new.size)
    first = starts % n
    tail = np.append(np.cumsum(w[::-1])[::-1], 0.0)
    level = np.where(length == 1, w[first], (tail[first] - tail[first + length]) / length)
    return level[np.cumsum(new.reshape(-1)) - 1].reshape(new.shape)


def _torch_order(f: Any) -> tuple[Any, Any]:
    xp, (r, n) = namespace(f), f.shape
    ranked, order = xp.sort(f, dim=-1, descending=True)
    tied = (ranked[:, 1:] == ranked[:, :-1]).any(-1) if n > 1 else xp.zeros(r, dtype=xp.bool, device=f.device)
    return order + xp.arange(0, r * n, n, device=f.device)[:, None], tied


def _interpolated(x: Any, knots: Knots) -> Any:
    """W(x) for x in [0, 1], linear between the knots."""
    if namespace(x) is np:
        return np.interp(x, *knots).astype(x.dtype, copy=False)
    at, height = (like(knot, x) for knot in knots)
    k = (namespace(x).searchsorted(at, x.contiguous(), right=True) - 1).clamp(0, len(at) - 2)
    return height[k] + (x - at[k]) * ((height[k + 1] - height[k]) / (at[k + 1] - at[k]))
