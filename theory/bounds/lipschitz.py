"""The Lipschitz constant of the gradient of a powered loss, for q-FedAvg's step sizes (q-FFL, lemma
12).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks


def qffl_lipschitz(losses: ArrayLike, gradient_norms: ArrayLike, L: float, q: float) -> Any:
    """L f^q + q f^(q-1) ||grad f||^2, at least the norm of the Hessian of f^(q+1) / (q+1) at the
    point; shape (...).

    ``losses`` f >= 0 and ``gradient_norms`` (Euclidean), broadcast to one shape (...); L > 0 a
    Lipschitz constant of grad f; q >= 0. In one dimension with f = L w^2 / 2 + b it is attained.
    Where f = 0, grad f = 0 as well (a minimum) and the bound is its limit, 0 for q > 0 and L for q
    = 0: ||grad f||^2 <= 2 L f. It holds at the point, not around it. Still, for one client a step
    of 1 / bound descends: it is a step of 1 / (L + q ||grad f||^2 / f) <= 1/L on f. Errors:
    ValueError for a loss below 0, a gradient that is not 0 where the loss is, and overflow.
    Source: q-FFL, lemma 12 and algorithm 2.
    """
    f = checks.in_range("losses", losses, 0.0, np.finfo(float).max)
    norm = checks.in_range("gradient_norms", gradient_norms, 0.0, np.finfo(float).max)
    smooth = float(checks.positive("L", L))
    power = float(checks.in_range("q", q, 0.0, np.finfo(float).max))
    f, norm = _together(f, norm)
    if ((f == 0) & (norm > 0)).any():
        raise ValueError(
            "gradient_norms must be 0 where a loss >= 0 is 0, got "
            f"{norm[(f == 0) & (norm > 0)][0]:g}"
        )
    base = np.where(f > 0, f, 1.0)
    with np.errstate(over="ignore", under="ignore"):
        bound = base**power * (smooth + power * (norm / base) * norm)
    if not np.isfinite(bound).all():
        raise ValueError(
            f"q must leave the bound finite, got q = {power:g} with losses up to {f.max():g}"
        )
    return np.where(f > 0, bound, smooth if power == 0 else 0.0)[()]


def qffl_sublevel_lipschitz(level: ArrayLike, L: float, q: float) -> Any:
    """(1 + 2q) L c^q, at least the norm of the Hessian of f^(q+1) / (q+1) wherever f <= c; shape
    (...).

    From lemma 12 and ||grad f||^2 <= 2 L f, which holds for f >= 0 with an L-Lipschitz gradient on
    all of R^d. It holds for a mean over clients too, where every f_k <= c: a constant step of at
    most 1 / bound, from a point where the mean of the f_k^(q+1) is at most c^(q+1) / n, stays there
    and descends.
    Source: ours, from q-FFL, lemma 12, which gives a constant at one point of one client only.
    """
    c = checks.in_range("level", level, 0.0, np.finfo(float).max)
    power = float(checks.in_range("q", q, 0.0, np.finfo(float).max))
    with np.errstate(over="ignore", under="ignore"):
        bound = (1 + 2 * power) * float(checks.positive("L", L)) * c**power
    if not np.isfinite(bound).all():
        raise ValueError(
            f"q must leave the bound finite, got q = {power:g} with a level of {c.max():g}"
        )
    return bound[()]


def _together(f: Any, norm: Any) -> tuple[Any, Any]:
    try:
        return tuple(np.broadcast_arrays(f, norm))  # type: ignore[return-value]
    except ValueError:
        raise ValueError(
            f"gradient_norms must have the shape of losses, {f.shape}, got {norm.shape}"
        ) from None
