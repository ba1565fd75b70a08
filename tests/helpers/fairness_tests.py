"""The definitions of α-fair and max-min fair points, tested among the utilities of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from fairfl._support.checks import Array, finite
from fairfl.solvers.minimax.bargaining import RISE, TIE, TOLERANCE, _checked, _gain, _rise
from fairfl.solvers.minimax.utility_set import UtilitySet
from fairfl.theory.measures import welfare as bargaining


@dataclass(frozen=True)
class FairnessTest:
    """Whether u is α-fair among U, and what is better where it is not.

    Attributes
    ----------
    holds : whether ``gain`` <= tolerance.
    gain : the largest n Σ_i s_i (v_i - u_i)/u_i over v in U; at α = 1 the largest Σ_i (v_i -
        u_i)/u_i. An upper bound on it where U is not a hull of points.
    better : (n,) a v that attains it.
    direction : (n,) v - u: the violating direction, along which the welfare increases at first
        (where gain > 0).
    """

    holds: bool
    gain: float
    better: Array
    direction: Array


def fairness_test(
    utilities: UtilitySet, u: Any, alpha: float = 1.0, *, tolerance: float = TOLERANCE
) -> FairnessTest:
    """Whether u in U is α-fair, 0 <= α < inf; at α = 1 the definition of proportional fairness,
    (1).

    Errors: ValueError for α infinite (``max_min_test``), for u of another shape, not positive (α >
    0), or not attainable: beyond U the test would mean nothing.
    """
    U, u = _checked(utilities), _point(utilities, u)
    bargaining.shares(u, alpha)  # for its checks
    _attainable(U, u, tolerance)
    gain, best = _gain(U, u, alpha)
    return FairnessTest(bool(gain <= tolerance), float(gain), best, best - u)


def max_min_test(utilities: UtilitySet, u: Any, *, tolerance: float = RISE) -> FairnessTest:
    """Whether no client's utility can be raised without lowering one that is no larger: max-min
    fairness.

    ``gain`` is the largest such rise over the clients, relative to max u. For each client i: max
    v_i over the v in U with v_j >= u_j for all j != i with u_j <= u_i (both up to rounding, 1e-9).
    Errors: ValueError as for ``fairness_test``. Source: Bertsekas and Gallager, Data Networks,
    section 6.5.
    """
    U, u = _checked(utilities), _point(utilities, u)
    _attainable(U, u, TOLERANCE)
    slack = TIE * float(u.max())
    gain, best = -np.inf, u
    for i in range(U.n):
        held = (u <= u[i] + 1e3 * slack) & (np.arange(U.n) != i)
        rise, v = _rise(U, i, np.where(held, u - slack, -np.inf), u)
        if rise / u.max() > gain:
            gain, best = rise / float(u.max()), v
    return FairnessTest(bool(gain <= tolerance), float(gain), best, best - u)


def _attainable(U: UtilitySet, u: Array, tolerance: float) -> None:
    """u is attainable, with disposal, iff the largest t with v >= t u has t >= 1 (u > 0
    somewhere).
    """
    t = cp.Variable()
    found, _ = U.maximise(t, [U.utilities >= t * u, t <= 2], "whether u is attainable")
    if found < 1 - tolerance:
        raise ValueError(f"u must be attainable, got {u.tolist()}: only {found:.9g} times it is")


def _point(U: UtilitySet, u: Any) -> Array:
    u = finite("u", u)
    if u.shape != (U.n,):
        raise ValueError(f"u must have shape ({U.n},), got {u.shape}")
    if not u.any() or u.min() < 0:
        raise ValueError(f"u must be >= 0 and not all 0, got {u.tolist()}")
    return u
