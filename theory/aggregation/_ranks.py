"""Weights by rank: sorts each loss vector, and gives tied clients the mean of their weights."""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array


def rank_weights(f: Array, w: Array, p: Array | None, knots: tuple[Array, Array]) -> Array:
    """The weight of each client in rows f (r, n): w, given for descending losses, by rank; ties
    share evenly.

    With client weights p, rank k gets W(P_k) - W(P_(k-1)), where P_k is the share p of the k
    largest losses and W the concave piecewise linear function through the ``knots``; tied clients
    share in proportion to p.
    """
    order = np.argsort(-f, axis=-1)
    share = np.ones_like(f) if p is None else p[order]
    if p is None:
        given = np.broadcast_to(w, f.shape)
    else:
        reached = np.cumsum(share, -1)
        reached[:, -1] = 1.0
        given = np.diff(np.interp(reached, *knots), prepend=0.0)
    losses = np.take_along_axis(f, order, -1)
    new = np.diff(losses, prepend=np.inf) != 0
    by_rank = given if new.all() else spread(given, share, new)
    result = np.empty_like(f)
    np.put_along_axis(result, order, by_rank.astype(f.dtype, copy=False), -1)
    return result


def spread(given: Array, share: Array, new: Array) -> Array:
    """Over each run in the rows of ``given``, its sum split in proportion to ``share``; ``new``
    marks runs' starts.
    """
    starts = np.flatnonzero(new)
    level = np.add.reduceat(given.ravel(), starts) / np.add.reduceat(share.ravel(), starts)
    return np.repeat(level, np.diff(starts, append=new.size)).reshape(given.shape) * share
