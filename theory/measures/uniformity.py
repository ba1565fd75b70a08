"""How uniform losses are over the clients: variance, angle, entropy, Gini, Jain (q-FFL, definitions
3 to 5).

All take ``losses`` of shape (..., n), finite, the last axis the clients, and return shape (...).
``client_weights`` (n,), positive, sum one, replace the 1/n of every mean. ``entropy``,
``kl_to_uniform``, ``gini`` and ``jain`` are about shares of a total, and need losses >= 0; the
others take any sign.

Zeros: 0 log 0 = 0. The vector (0, ..., 0) has equal entries, and so it counts as perfectly uniform:
variance 0, angle 0, entropy log n, KL 0, Gini 0, Jain 1. The last five are not continuous there:
they ignore the scale of f.

>>> from fairfl.theory.measures import uniformity
>>> uniformity.variance([1.0, 3.0]), uniformity.gini([1.0, 3.0]), uniformity.jain([1.0, 3.0])
(np.float64(1.0), np.float64(0.25), np.float64(0.8))
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array
from fairfl.theory.aggregation import RankWeighted
from fairfl.theory.aggregation._checks import probabilities, shape_of

SMALL = 0.1  # of |f/mean - 1|: up to there r log r - r + 1 is summed as a series
TERMS = 18  # of that series: the last is below 1e-18 of the first


def variance(losses: ArrayLike, client_weights: ArrayLike | None = None) -> Any:
    """(1/n) sum_i (f_i - mean f)^2, in squared units of f. Source: q-FFL, definition 3 and eq. (6).

    Errors: ValueError for losses that are not finite, and where the variance exceeds the range of
    floats.
    """
    f, p, scale = _scaled(losses, client_weights)
    with np.errstate(over="ignore", under="ignore"):
        result = _moments(f, p)[1] * scale[..., 0] * scale[..., 0]
    if not np.isfinite(result).all():
        raise ValueError(
            f"losses must have a variance below {np.finfo(float).max:.3g}, got losses up to "
            f"{scale.max()}"
        )
    return result[()]


def angle(losses: ArrayLike, client_weights: ArrayLike | None = None) -> Any:
    """Angle between f and (1, ..., 1), radians, in [0, pi]; cos = mean f / sqrt(mean f^2).

    As arctan(sd / mean), which keeps the digits of small angles. Source: q-FFL, definition 4 (its
    tables: degrees).
    """
    mean, squares = _moments(*_scaled(losses, client_weights)[:2])
    return np.arctan2(np.sqrt(squares), mean)[()]


def entropy(losses: ArrayLike) -> Any:
    """H(f) = -sum_i s_i log s_i, s = f / sum f, in nats, between 0 and log n. Source: q-FFL,
    definition 5.

    Without client weights, since it counts clients; ``kl_to_uniform`` is log n - H(f), and has
    them.
    """
    f = _scaled(losses, None, nonnegative=True)[0]
    total = f.sum(-1)
    shares = f / np.where(total == 0, 1.0, total)[..., None]
    return np.where(total == 0, np.log(f.shape[-1]), scipy.special.entr(shares).sum(-1))[()]


def kl_to_uniform(losses: ArrayLike, client_weights: ArrayLike | None = None) -> Any:
    """KL(s || uniform) = log n - H(f) = (1/n) sum_i r_i log r_i, r = f / mean f, in nats, between 0
    and log n.

    Under client weights p the divergence of s = p f / sum p f from p: sum_i p_i r_i log r_i.
    Theil's index. A sum of r log r - r + 1 >= 0, so near uniform nothing cancels. Source: q-FFL,
    tables 4 to 6, "KL(a || u)".
    """
    f, p, _ = _scaled(losses, client_weights, nonnegative=True)
    mean = _mean(f, p)[..., None]
    is_positive = mean > 0
    off = (f - mean) / np.where(is_positive, mean, 1.0)
    ratio = np.where(is_positive, f / np.where(is_positive, mean, 1.0), 1.0)
    is_near_mean = np.abs(off) <= SMALL
    terms = np.where(
        is_near_mean,
        _series(np.where(is_near_mean, off, 0.0)),
        scipy.special.xlogy(ratio, ratio) - ratio + 1,
    )
    return _mean(np.where(is_positive, terms, 0.0), p)[()]


def gini(losses: ArrayLike, client_weights: ArrayLike | None = None) -> Any:
    """Gini coefficient sum_ij p_i p_j |f_i - f_j| / (2 mean f), in [0, 1 - min_i p_i], p_i = 1/n
    unless given.

    By one sort, sum_k P_k (1 - P_k) (f_(k+1) - f_(k)) / mean with P_k the share of the k smallest:
    nothing cancels. Source: p-FFL, eq. (3).
    """
    f, p, _ = _scaled(losses, client_weights, nonnegative=True)
    mean = _mean(f, p)
    return (half_mean_difference(f, p) / np.where(mean == 0, 1.0, mean))[()]


def jain(losses: ArrayLike, client_weights: ArrayLike | None = None) -> Any:
    """Jain's index (mean f)^2 / mean f^2 = cos^2 of ``angle``, between min_i p_i (1/n) and 1.

    Source: Jain, Chiu and Hawe (1984), as cited by q-FFL, section 2.
    """
    mean, squares = _moments(*_scaled(losses, client_weights, nonnegative=True)[:2])
    both = mean * mean + squares
    return np.where(both == 0, 1.0, mean * mean / np.where(both == 0, 1.0, both))[()]


def worst(losses: ArrayLike, share: float = 0.1, client_weights: ArrayLike | None = None) -> Any:
    """Mean of the ``share`` (in (0, 1]) of the clients with the largest losses, the last one
    counted in part.

    CVaR at level 1 - share; where share n <= 1, the largest loss (p-FFL's table 1 has NaN there).
    For accuracies, where the worst are the smallest, this is ``best``. Source: q-FFL, section 4;
    p-FFL, section 3.4.
    """
    part = float(checks.in_range("share", share, 0.0, 1.0, open_low=True))
    f, p, scale = _scaled(losses, client_weights)
    tail = RankWeighted.cvar(1 - part)
    return (np.asarray((tail if p is None else tail.weighted(p)).value(f)) * scale[..., 0])[()]


def best(losses: ArrayLike, share: float = 0.1, client_weights: ArrayLike | None = None) -> Any:
    """Mean of the ``share`` (in (0, 1]) of the clients with the smallest losses: see ``worst``."""
    return 0.0 - worst(-_losses(losses), share, client_weights)  # not -0.0


def half_mean_difference(f: Array, p: Array | None) -> Array:
    """(1/2) sum_ij p_i p_j |f_i - f_j| over the last axis, the numerator of Gini's index."""
    n = f.shape[-1]
    if p is None:
        ranked = np.sort(f, axis=-1)
        below = np.arange(1, n) / n
    else:
        order = np.argsort(f, axis=-1)
        ranked = np.take_along_axis(f, order, -1)
        below = np.cumsum(p[order], axis=-1)[..., :-1]
    return (below * np.maximum(1 - below, 0.0) * np.diff(ranked, axis=-1)).sum(-1)


def _losses(losses: ArrayLike) -> Array:
    f = checks.finite("losses", losses)
    shape_of("losses", f.shape, None, "")
    return f


def _scaled(
    losses: ArrayLike, client_weights: ArrayLike | None, *, nonnegative: bool = False
) -> tuple[Array, Array | None, Array]:
    """f / max |f| row by row, so that no square overflows; the weights or None for 1/n; and max |f|
    (1 for f = 0).
    """
    f = _losses(losses)
    if nonnegative:
        checks.in_range("losses", f, 0.0, np.inf)
    p = None
    if client_weights is not None:
        p = np.asarray(probabilities("client_weights", client_weights, positive=True))
        shape_of("losses", f.shape, len(p), "as many as client_weights")
    largest = np.abs(f).max(-1, keepdims=True)
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1)  # a power of two: no digit is lost
    scale = np.where(largest == 0, 1.0, scale)
    return f / scale, p, scale


def _mean(f: Array, p: Array | None) -> Array:
    return np.asarray(f.mean(-1) if p is None else f @ p)


def _moments(f: Array, p: Array | None) -> tuple[Array, Array]:
    """Mean and variance over the last axis, in two passes."""
    mean = _mean(f, p)
    return mean, _mean((f - mean[..., None]) ** 2, p)


def _series(x: Array) -> Array:
    """(1 + x) log(1 + x) - x = sum_(k>=2) (-x)^k / (k (k-1)) for |x| <= SMALL."""
    total = np.zeros_like(x)
    for k in range(TERMS, 1, -1):
        total = 1 / (k * (k - 1)) - x * total
    return total * x * x
