"""α-fair points of a convex set of utilities (utilitarian, Nash, harmonic, max-min), certified.

Every point is certified by weights. Mean utility of order α (``bargaining.mean_utility``) is
concave, so u is best iff no attainable v has a positive first-order gain Σ_i s_i (v_i - u_i)/u_i.
At α = 1 that is the definition of proportional fairness (PropFair, definition 2.1 and proposition
2.3). The largest gain over v is a linear programme on a polytope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from fairfl._support.checks import Array, finite, in_range, positive
from fairfl.solvers.minimax.utility_set import ADVICE, UtilitySet
from fairfl.solvers.solution import CertificationError
from fairfl.theory.measures import welfare as bargaining

TOLERANCE = 1e-6
"""What is certified unless another tolerance is given: relative gain, relative utility."""
HELD = 1e-3
"""A client whose multiplier is no smaller a share of the largest cannot rise above the level."""
TIE = 1e-9  # of a total or share, relative, within which two count as equal
SLACK = 1e-10  # relative decrease of a level, so that the next convex programme has an interior
HALF = 0.5  # α from which on Nash products are iterated
ROUNDS = 60  # at most: 2^-60
# convex programmes solved at most for one point, and the gain at which the search stops
PASSES, GOOD = 3, 1e-8


@dataclass(frozen=True)
class FairPoint:
    """An α-fair point and its certificate.

    Attributes
    ----------
    alpha : 0 utilitarian, 1 proportional, 2 harmonic, inf max-min.
    utilities : (n,) u.
    value : mean utility of order α (above the disagreement point, where there is one).
    weights : (n,) weights of which u maximises the total over U: s_i / u_i, multipliers at α = inf;
        weights.u = 1.
    gain : the largest n Σ_i s_i (v_i - u_i)/u_i over v in U, or an upper bound on it: no v has a
        value above value (1 + gain/n).
    best_total : the largest total of utilities.
    """

    alpha: float
    utilities: Array
    value: float
    weights: Array
    gain: float
    best_total: float

    @property
    def price_of_fairness(self) -> float:
        """1 - Σ u / best_total (Bertsimas, Farias and Trichakis, 2011)."""
        return float(
            bargaining.price_of_fairness(
                self.utilities, max(self.best_total, float(self.utilities.sum()))
            )
        )


def alpha_fair(utilities: UtilitySet, alpha: float, *, tolerance: float = TOLERANCE) -> FairPoint:
    """The point of U with the largest α-fair welfare, 0 <= α <= inf, certified.

    Where the maximum has several points, one is chosen: at α = 0 that of the largest entropy Σ -u
    log u, the limit of α -> 0; at α = inf the leximin point (no client can gain without a loss to
    one that has no more), the limit of α -> inf. For 0 < α < inf it is unique.

    Errors: ValueError for α < 0 or NaN, for a set that is no UtilitySet, and where U has no point
    with all u_i > 0; CertificationError where the gain does not close to ``tolerance``.
    Source: Mo and Walrand (2000); PropFair, definitions 2.1, 2.2, (D.9); q-FFL, appendix C.
    """
    alpha = float(in_range("alpha", alpha, 0.0, np.inf))
    tolerance = float(positive("tolerance", tolerance))
    U = _checked(utilities)
    least, multipliers = _largest_minimum(U)
    if not least > 0:
        raise ValueError(
            f"utilities must be attainable with all u_i > 0, got a largest minimum of {least:g}"
        )
    if np.isinf(alpha):
        u = _leximin(U, least)
        weights = multipliers / (multipliers @ u)
        value, (upper, _) = float(u.min()), U.support(weights)
        # min v <= weights.v / Σ weights for every v
        gain = U.n * (upper / (weights.sum() * value) - 1)
    else:
        u, gain = _finite(U, alpha, least)
        weights, value = _weights(u, alpha), float(bargaining.mean_utility(u, alpha))
    best_total, _ = U.support(np.ones(U.n))
    if not abs(gain) <= tolerance:
        raise CertificationError(
            f"no {alpha:g}-fair point certified to {tolerance:g}: a relative gain of {gain:.3g} "
            f"is left; {ADVICE}"
        )
    return FairPoint(alpha, u, value, weights, gain, best_total)


def nash_point(
    utilities: UtilitySet, disagreement: Any = 0.0, *, tolerance: float = TOLERANCE
) -> FairPoint:
    """The Nash bargaining solution: the u in U, u > d, with the largest product Π_i (u_i - d_i).

    ``disagreement`` d is a number or (n,): what each has without an agreement (PropFair: 0).
    Proportionally fair in u - d, where U is convex. ``value``, ``weights`` and ``gain`` are about u
    - d.
    Errors: ValueError where nothing in U is above d for every client; as for ``alpha_fair``.
    Source: Nash (1950); PropFair, definition 2.2 and proposition 2.3.
    """
    U = _checked(utilities)
    d = finite("disagreement", disagreement)
    if d.ndim > 1 or d.size not in (1, U.n):
        raise ValueError(f"disagreement must be a number or of shape ({U.n},), got shape {d.shape}")
    d = np.broadcast_to(d, (U.n,))
    found = alpha_fair(U.above(d) if d.any() else U, 1.0, tolerance=tolerance)
    total = found.best_total + float(d.sum())
    return FairPoint(1.0, found.utilities + d, found.value, found.weights, found.gain, total)


def _weights(u: Array, alpha: float) -> Array:
    """s_i / u_i, the weights at which u has the value 1."""
    return np.asarray(bargaining.shares(u, alpha)) / u if alpha else np.full(len(u), 1 / u.sum())


def _finite(U: UtilitySet, alpha: float, least: float) -> tuple[Array, float]:
    """(maximiser for α < inf, its gain), the best of a few passes by its certificate.

    Utilities are counted in units of the largest minimum, then, where that leaves too few digits,
    of what was found.
    """
    unit, found = np.full(U.n, least), []
    for _ in range(PASSES):
        _solve(U, alpha, unit)
        u = np.maximum(U.point(), least * TIE)  # at a zero of u (α < 1) weights are infinite
        found.append((u, U.n * (U.support(_weights(u, alpha))[0] - 1)))
        if abs(found[-1][1]) <= GOOD:
            break
        unit = u
    return min(found, key=lambda pair: abs(pair[1]))


def _solve(U: UtilitySet, alpha: float, unit: Array) -> None:
    """Maximise the welfare, with utilities counted in ``unit`` (n,); the point is left in the
    variables.
    """
    v, scale = cp.multiply(1 / unit, U.utilities), unit / unit.min()
    if alpha == 0:
        w = cp.Variable(U.n)  # = u: entropy does not increase in u, the total does
        total, _ = U.maximise(cp.sum(U.utilities) / unit.min(), (), "the largest total")
        limits = [w <= U.utilities / unit.min(), cp.sum(w) >= total - TIE * abs(total)]
        U.maximise(cp.sum(cp.entr(w)), limits, "the largest entropy of that total")
    elif alpha < HALF:
        U.maximise(
            scale ** (1 - alpha) @ cp.power(v, 1 - alpha, approx=False),
            (),
            f"the {alpha:g}-fair point",
        )
    elif alpha <= 1:
        _by_nash_products(U, v, alpha)
    else:  # in logarithms: no power, whatever α
        terms = (1 - alpha) * (cp.log(v) + np.log(scale))
        U.maximise(-cp.log_sum_exp(terms), (), f"the {alpha:g}-fair point")


def _by_nash_products(U: UtilitySet, v: Any, alpha: float) -> None:
    """Maximise Σ s_i log v_i with the shares s of the last point, again and again; at α = 1 once.

    For α <= 1, Σ v_i^(1-α) is convex in log v, so that its tangent there, which this maximises, is
    a lower bound: the welfare increases from round to round. The error falls by the factor 1 - α or
    more (powers near 1 defeat the cones).
    """
    s = np.full(U.n, 1 / U.n)
    for _ in range(ROUNDS):
        U.maximise(s @ cp.log(v), (), f"the {alpha:g}-fair point")
        new = np.asarray(bargaining.shares(U.point(), alpha))
        if np.abs(new - s).max() <= TIE:
            break
        s = new


def _largest_minimum(U: UtilitySet) -> tuple[float, Array]:
    """max over U of min u, and multipliers λ >= 0, sum one."""
    level = cp.Variable()
    floor = U.utilities >= level
    U.maximise(level, [floor], "the largest minimum")
    multipliers = np.maximum(np.asarray(floor.dual_value, dtype=np.float64), 0.0)
    return float(U.point().min()), multipliers / multipliers.sum()


def _leximin(U: UtilitySet, least: float) -> Array:
    """Raise the least level; hold the clients with a multiplier, which cannot exceed it; go on with
    the others. At most n rounds.

    A client held at a level with slack δ may give another sqrt(δ) on a curved boundary: later
    levels are good to 1e-5.
    """
    fixed = np.full(U.n, -np.inf)
    while True:
        free = np.isneginf(fixed)
        level = cp.Variable()
        floor = U.utilities[free] >= level
        others = [] if free.all() else [U.utilities[~free] >= fixed[~free]]
        found, _ = U.maximise(level, [floor, *others], "the next level of the leximin point")
        price = np.asarray(floor.dual_value, dtype=np.float64)
        held = np.flatnonzero(free)[price >= HELD * price.max()]
        fixed[held] = found - SLACK * (abs(found) + least)
        if np.isfinite(fixed).all():
            return U.point()


def _checked(U: Any) -> UtilitySet:
    if not isinstance(U, UtilitySet):
        raise ValueError(f"utilities must be a UtilitySet, got {type(U).__name__}")
    return U
