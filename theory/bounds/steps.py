"""Bounds on the benefit of one step to a group, for smooth, strongly convex losses (theorems 1 and
2).

Source: Fairness of Federated Learning with Dynamic Participants, section 4 and appendix A.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array

Bounds = tuple[Any, Any]


def step_bounds(gradient: ArrayLike, step: ArrayLike, L: float, mu: float) -> Bounds:
    """(s.g - L ||s||^2 / 2, s.g - mu ||s||^2 / 2): bounds of the benefit loss(w) - loss(w - s),
    shape (...).

    ``gradient`` g = grad loss(w) and ``step`` s have shape (..., d); the loss is L-smooth and
    mu-strongly convex, 0 <= mu <= L. Exact on both sides for quadratics with curvatures L and mu.
    With s = eta g it is (5)-(6), with s = eta g / ||g|| the bounds for NGD, with s = eta sum_k p_k
    g_k the step after aggregation, which the paper leaves out ("if the benefit from the aggregation
    step is sufficiently small").
    """
    g, s = checks.finite("gradient", gradient), checks.finite("step", step)
    if g.ndim == 0 or s.shape[-1:] != g.shape[-1:]:
        raise ValueError(
            f"step and gradient must have shapes (..., d) of one d, got {s.shape} and {g.shape}"
        )
    smooth, convex = _curvatures(L, mu)
    first, square = (s * g).sum(-1), (s * s).sum(-1)
    return first - smooth * square / 2, first - convex * square / 2


def gd_step_bounds(gradient_norm: ArrayLike, eta: float, L: float, mu: float) -> Bounds:
    """((eta - eta^2 L / 2) ||g||^2, (eta - eta^2 mu / 2) ||g||^2): the benefit of a step eta g of
    its own; (5)-(6).
    """
    norm, rate = _norm_and_rate(gradient_norm, eta)
    smooth, convex = _curvatures(L, mu)
    return (rate - rate**2 * smooth / 2) * norm**2, (rate - rate**2 * convex / 2) * norm**2


def ngd_step_bounds(gradient_norm: ArrayLike, eta: float, L: float, mu: float) -> Bounds:
    """(eta ||g|| - eta^2 L / 2, eta ||g|| - eta^2 mu / 2): the benefit of a normalised step eta g /
    ||g||, g not 0.
    """
    norm, rate = _norm_and_rate(gradient_norm, eta)
    smooth, convex = _curvatures(L, mu)
    if (norm == 0).any():
        raise ValueError("gradient_norm must be > 0: at 0 there is no normalised step")
    return rate * norm - rate**2 * smooth / 2, rate * norm - rate**2 * convex / 2


def ngd_benefit_cap(eta: float, lipschitz: float = 1.0, variant: str = "repaired") -> float:
    """The most that any group can gain or lose in one aggregated NGD step: eta times the loss's
    Lipschitz constant.

    The step is a mean of vectors of length eta, so no longer than eta. Variant "printed": 2 eta for
    ``lipschitz`` = 1, which holds with room to spare. (No loss on all of R^d is both Lipschitz and
    strongly convex, as section 4 supposes; on a bounded set one can be.)
    """
    checks.one_of("variant", variant, ("printed", "repaired"))
    reach = float(checks.positive("eta", eta)) * float(checks.positive("lipschitz", lipschitz))
    return 2 * reach if variant == "printed" else reach


def _norm_and_rate(gradient_norm: ArrayLike, eta: float) -> tuple[Array, float]:
    norm = checks.in_range("gradient_norm", gradient_norm, 0.0, np.finfo(float).max)
    return norm, float(checks.positive("eta", eta))


def _curvatures(L: float, mu: float) -> tuple[float, float]:
    smooth = float(checks.positive("L", L))
    return smooth, float(checks.in_range("mu", mu, 0.0, smooth))
