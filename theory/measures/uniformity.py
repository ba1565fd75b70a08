"""How uniform losses are over the clients: variance, angle, entropy (q-FFL, definitions 3 to 5).

All take ``losses`` of shape (..., n), finite, the last axis the clients, and return shape (...).
``entropy`` and ``kl_to_uniform`` need losses >= 0. 0 log 0 = 0, and (0, ..., 0) counts as perfectly
uniform: variance 0, angle 0, entropy log n, KL 0, of which the last three are not continuous there.

>>> from fairfl.theory.measures import uniformity
>>> uniformity.variance([1.0, 3.0]), uniformity.worst([1.0, 3.0])
(np.float64(1.0), np.float64(3.0))
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array
from fairfl.theory.aggregation import RankWeighted
from fairfl.theory.aggregation._base import shape_of

SMALL = 0.1  # of |f/mean - 1|: up to there r log r - r + 1 is summed as a series
TERMS = 18  # of that series: the last is below 1e-18 of the first


def variance(losses: ArrayLike) -> Any:
    """(1/n) sum_i (f_i - mean f)^2, in squared units of f. Source: q-FFL, definition 3 and eq. (6).
    ValueError for losses that are not finite, or whose variance exceeds the range of floats.
    """
    f, scale = _scaled(losses)
    with np.errstate(over="ignore", under="ignore"):
        result = f.var(-1) * scale[..., 0] * scale[..., 0]
    if not np.isfinite(result).all():
        raise ValueError(
            f"losses must have a variance below {np.finfo(float).max:.3g}, got losses up to "
            f"{scale.max()}"
        )
    return result[()]


def angle(losses: ArrayLike) -> Any:
    """Angle between f and (1, ..., 1), radians, in [0, pi]; cos = mean f / sqrt(mean f^2).

    As arctan(sd / mean), which keeps small angles' digits. Source: q-FFL, definition 4 (in
    degrees).
    """
    f, _ = _scaled(losses)
    return np.arctan2(f.std(-1), f.mean(-1))[()]


def entropy(losses: ArrayLike) -> Any:
    """H(f) = -sum_i s_i log s_i, s = f / sum f, in nats, between 0 and log n. Source: q-FFL,
    definition 5.
    """
    f, _ = _scaled(losses, nonnegative=True)
    total = f.sum(-1)
    shares = f / np.where(total == 0, 1.0, total)[..., None]
    return np.where(total == 0, np.log(f.shape[-1]), scipy.special.entr(shares).sum(-1))[()]


def kl_to_uniform(losses: ArrayLike) -> Any:
    """KL(s || uniform) = log n - H(f) = (1/n) sum_i r_i log r_i, r = f / mean f, in nats, between 0
    and log n.

    Theil's index. A sum of r log r - r + 1 >= 0, so near uniform nothing cancels. Source: q-FFL,
    tables 4 to 6, "KL(a || u)".
    """
    f, _ = _scaled(losses, nonnegative=True)
    mean = f.mean(-1, keepdims=True)
    is_positive = mean > 0
    off = (f - mean) / np.where(is_positive, mean, 1.0)
    ratio = np.where(is_positive, f / np.where(is_positive, mean, 1.0), 1.0)
    is_near_mean = np.abs(off) <= SMALL
    terms = np.where(
        is_near_mean,
        _series(np.where(is_near_mean, off, 0.0)),
        scipy.special.xlogy(ratio, ratio) - ratio + 1,
    )
    return np.where(is_positive, terms, 0.0).mean(-1)[()]


def worst(losses: ArrayLike, share: float = 0.1) -> Any:
    """Mean of the ``share`` (in (0, 1]) of the clients with the largest losses, the last one
    counted in part.

    CVaR at level 1 - share; where share n <= 1, the largest loss (p-FFL's table 1 has NaN there).
    For accuracies, where the worst are the smallest, this is ``best``. Source: q-FFL, section 4;
    p-FFL, section 3.4.
    """
    part = float(checks.in_range("share", share, 0.0, 1.0, open_low=True))
    f, scale = _scaled(losses)
    return (np.asarray(RankWeighted.cvar(1 - part).value(f)) * scale[..., 0])[()]


def best(losses: ArrayLike, share: float = 0.1) -> Any:
    """Mean of the ``share`` (in (0, 1]) of the clients with the smallest losses: see ``worst``."""
    return 0.0 - worst(-_losses(losses), share)  # not -0.0


def _losses(losses: ArrayLike) -> Array:
    f = checks.finite("losses", losses)
    shape_of("losses", f.shape, None, "")
    return f


def _scaled(losses: ArrayLike, *, nonnegative: bool = False) -> tuple[Array, Array]:
    """f / max |f| row by row, so that no square overflows; and max |f| (1 for f = 0)."""
    f = _losses(losses)
    if nonnegative:
        checks.in_range("losses", f, 0.0, np.inf)
    largest = np.abs(f).max(-1, keepdims=True)
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1)  # a power of two: no digit is lost
    scale = np.where(largest == 0, 1.0, scale)
    return f / scale, scale


def _series(x: Array) -> Array:
    """(1 + x) log(1 + x) - x = sum_(k>=2) (-x)^k / (k (k-1)) for |x| <= SMALL."""
    total = np.zeros_like(x)
    for k in range(TERMS, 1, -1):
        total = 1 / (k * (k - 1)) - x * total
    return total * x * x
