"""The operations that differ between numpy and torch; all other formulas are written once for both.

numpy is the core. torch is never imported: a tensor can only exist where somebody else has imported
it.
"""

from __future__ import annotations

import sys
from math import log2
from typing import Any

import numpy as np

UNDERFLOW = -690.0  # about log(1e-300)
FAST = -500.0  # below, the C library's exp takes its slow lane
# numbers worked on at a time: a megabyte, so that the temporaries of a formula stay in the cache
BLOCK = 1 << 17
RESERVE = 16 * BLOCK  # see settle
SHORT = 512  # from there on sums are worth being done pairwise


def settle() -> None:
    """Ask for a large array and drop it: glibc then keeps the temporaries of the blocks to come in
    its heap.

    Otherwise it gives each one back to the system and zeroes its pages again for the next, which
    costs up to half of the time. Nothing is touched, so this takes microseconds; elsewhere it does
    nothing.
    """
    np.empty(RESERVE)


def namespace(x: Any) -> Any:
    """The module whose functions apply to ``x``: torch for a tensor, else numpy."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(x, torch.Tensor) else np


def detached(x: Any) -> Any:
    """``x`` cut from autograd's graph (numpy: ``x``)."""
    return x.detach() if namespace(x) is not np else x


def like(values: Any, x: Any) -> Any:
    """The numbers ``values`` with the library, the dtype and the device of ``x``."""
    xp = namespace(x)
    if xp is np:
        return np.asarray(values, dtype=x.dtype)
    return xp.as_tensor(values, dtype=x.dtype, device=x.device)


def mean(x: Any, p: Any) -> Any:
    """sum_i p_i x_i over the last axis; p = None stands for 1/n."""
    return x.sum(-1) / x.shape[-1] if p is None else x @ p


def times(x: Any, y: Any, out: Any = None) -> Any:
    """x * y, written to ``out`` where that is a numpy array."""
    return x * y if out is None or namespace(x) is not np else np.multiply(x, y, out=out)


def over(x: Any, y: Any, out: Any = None) -> Any:
    """x / y, written to ``out`` where that is a numpy array."""
    return x / y if out is None or namespace(y) is not np else np.divide(x, y, out=out)


def exponential(x: Any, out: Any = None) -> Any:
    """exp(x) for x <= 0, with 0 for what is below 1e-300 (in the slow lane of subnormal numbers, or
    past it).

    Where x is a numpy array the result goes to ``out``, which may be x itself.
    """
    xp = namespace(x)
    if xp is not np:
        return xp.exp(x)
    if x.dtype != np.float64 or not x.size or x.min() >= FAST:
        return np.exp(x, out=out)
    if out is x:
        x = x.copy()
    result = np.maximum(x, UNDERFLOW, out=out)
    result *= 0.5  # exp(x) = exp(x/2)^2, and x/2 is in the range where exp is fast
    np.exp(result, out=result)
    result *= result
    result[x < UNDERFLOW] = 0.0
    return result


def mean_of_products(x: Any, y: Any, p: Any) -> Any:
    """mean(x * y, p), without the array x * y where the rows are short enough for a plain sum to
    keep its digits.
    """
    if namespace(x) is np and p is None and x.shape[-1] <= SHORT:
        return np.vecdot(x, y) / x.shape[-1]
    return mean(x * y, p)


def dot(x: Any, y: Any) -> Any:
    """Row by row, sum_i x_i y_i over the last axis."""
    return np.vecdot(x, y) if namespace(x) is np else (x * y).sum(-1)


def power(x: Any, q: float) -> Any:
    """x^q for x >= 0 (0^0 = 1): multiplications and square roots where q is a multiple of 1/4 up to
    64.
    """
    if namespace(x) is not np:
        return x**q
    whole, quarters = int(q), (q % 1) * 4
    if q > 64 or quarters != int(quarters):
        logs = np.log(x)  # log 0 = -inf gives 0; relative error at most |q log x| roundings
        logs *= q
        return exponential(logs, logs)
    factors = []
    square = x
    while whole:
        if whole & 1:
            factors.append(square)
        whole >>= 1
        if whole:
            square = square * square
    if quarters:
        half = np.sqrt(x)
        factors += [half] if quarters >= 2 else []
        factors += [np.sqrt(half)] if quarters % 2 else []
    if not factors:
        return np.ones_like(x)
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


def mean_log(g: Any, p: Any) -> Any:
    """sum_i p_i log g_i over the last axis, g >= 0: for equal p with one logarithm for many
    factors.

    A product of k numbers in [lo, hi] stays within [lo^k, hi^k], so it is formed only where that
    cannot leave the range of floats.
    """
    xp, n = namespace(g), g.shape[-1]
    if xp is not np or p is not None or not g.size:
        return mean(xp.log(g), p)
    widest = max(abs(log2(g.max() or 1.0)), abs(log2(g.min() or 1.0)), 1e-3)
    # so many factors fit (exponents reach 1022 and 126)
    room = (900 if g.dtype == np.float64 else 100) / widest
    factors = 1
    # the odd one out goes along: at most 3 meet
    while g.shape[-1] > 1 and factors < 27 and factors * 3 <= room:
        half, odd = divmod(g.shape[-1], 2)
        product = g[:, :half] * g[:, half : 2 * half]
        if odd:
            product[:, 0] *= g[:, -1]
        g, factors = product, factors * 3
    return np.log(g).sum(-1) / n


def mean_log1m(x: Any) -> Any:
    """(1/n) sum_i log(1 - x_i) over the last axis of a numpy array, all digits kept for small x; x
    <= 1/16.

    1 - (1-x)(1-y) = x + y(1-x): for x, y >= 0 nothing cancels.
    """
    n, folds = x.shape[-1], 0
    while x.shape[-1] > 1 and folds < 3:
        half, odd = divmod(x.shape[-1], 2)
        left, right = x[:, :half], x[:, half : 2 * half]
        folded = left + right * (1 - left)
        if odd:
            folded[:, 0] += x[:, -1] * (1 - folded[:, 0])
        x, folds = folded, folds + 1
    return np.log1p(-x).sum(-1) / n


def spread(given: Any, share: Any, new: Any) -> Any:
    """Over each run in the rows of ``given``, its sum split in proportion to ``share``; ``new``
    marks runs' starts.
    """
    xp, shape = namespace(given), given.shape
    if xp is np:
        starts = np.flatnonzero(new)
        total = np.add.reduceat(given.reshape(-1), starts)
        size = np.add.reduceat(share.reshape(-1), starts)
        level = np.repeat(total / size, np.diff(starts, append=new.size))
    else:
        ids = xp.cumsum(new.reshape(-1), 0) - 1
        runs = int(ids[-1]) + 1
        total, size = (
            xp.zeros(runs, dtype=x.dtype, device=x.device).index_add_(0, ids, x.reshape(-1))
            for x in (given, share)
        )
        level = (total / size)[ids]
    return level.reshape(shape) * share
