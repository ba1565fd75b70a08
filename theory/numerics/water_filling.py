"""Conjugates on f >= lower by water-filling: A*(g) - lower.(g - w), least over g >= w."""

import numpy as np

from fairfl._support.checks import Array


def water_level(ratios: Array, a: Array, b: Array, total: float) -> Array:
    """The least (total - a(T)) / b(not T) over the sets T of clients with the largest ratios, T
    not all; rows (r, n).

    For c >= 0 let phi(c) = sum_i max(a_i, c b_i), the largest over T of a(T) + c b(not T), attained
    where T collects the largest ``ratios`` a_i / b_i. As phi increases, phi(c) = total where
    the first of these lines gets there: at the least c. So no search for the right T is needed.
    (PropFair's water rises in logarithms: the same holds.)
    """
    order = np.argsort(-ratios, axis=-1)
    a, b = (
        np.take_along_axis(a, order, -1),
        np.take_along_axis(np.broadcast_to(b, a.shape), order, -1),
    )
    taken = np.zeros_like(a)
    np.cumsum(a[:, :-1], -1, out=taken[:, 1:])  # a(T) for T = the k largest ratios, k = 0..n-1
    rest = np.cumsum(b[:, ::-1], -1)[:, ::-1]
    levels = np.where(rest > 0, (total - taken) / np.where(rest > 0, rest, 1.0), np.inf)
    return levels.min(-1, keepdims=True)
