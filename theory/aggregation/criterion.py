"""Whether a Kolmogorov mean is convex: the criterion of Ben-Tal and Teboulle (1986), decided with
sympy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import sympy

DIGITS = 50  # of the evaluations that look for a point where a sign is wrong
ZERO = 1e-30  # what such an evaluation may leave of a zero


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """The verdict on A_s, with the expressions it rests on.

    convex: True (shown), False (refuted at ``witness``), None (neither). schur_convex: the same for
    s'' >= 0. ratio: -s'/s'', None for linear s. curvature: its second derivative, >= 0 iff A_s is
    convex (given s'' > 0).
    """

    convex: bool | None
    schur_convex: bool | None
    ratio: Any = None
    curvature: Any = None
    witness: Any = None
    words: str


def convexity_criterion(
    s: sympy.Expr, t: sympy.Symbol, lower: float = -np.inf, upper: float = np.inf
) -> Criterion:
    """Whether A_s(f) = s^-1((1/n) sum_i s(f_i)) is convex on [lower, upper]^n for every n, s
    increasing.

    A_s is convex iff s is linear, or s'' > 0 inside and -s'/s'' is convex. The paper supposes s
    convex; without it the criterion is not enough: at f = (t, ..., t) the Hessian of A_s is s''/s'
    times a positive semidefinite matrix, so s'' >= 0 is needed.
    Further symbols in s are parameters; give them their signs as sympy assumptions.
    Source: PropFair, section 4.1; Ben-Tal and Teboulle (1986), theorem 1; Hardy, Littlewood, Polya,
    theorem 106.
    """
    import sympy

    first, second = sympy.diff(s, t), sympy.simplify(sympy.diff(s, t, 2))
    if second == 0:
        words = "s is linear, A_s the arithmetic mean"
        return Criterion(convex=True, schur_convex=True, words=words)
    s_convex, where = _sign(second, t, lower, upper)
    ratio = sympy.simplify(-first / second)
    curvature = sympy.simplify(sympy.diff(ratio, t, 2))
    convex, witness = _sign(curvature, t, lower, upper)
    if s_convex is False:
        convex, witness, words = False, where, f"s'' < 0 at {t} = {where}"
    elif convex is False:
        words = f"(-s'/s'')'' < 0 at {t} = {witness}"
    elif s_convex and convex:
        words = "s'' >= 0 and (-s'/s'')'' >= 0"
    else:
        convex, words = None, "the sign of s'' or of (-s'/s'')'' is not decided"
    return Criterion(
        convex=convex,
        schur_convex=s_convex,
        ratio=ratio,
        curvature=curvature,
        witness=witness,
        words=words,
    )


def sample_points(lower: float, upper: float, count: int = 41) -> list[float]:
    """Points strictly inside (lower, upper), with the unbounded sides cut at 30 away."""
    low = lower if np.isfinite(lower) else (upper if np.isfinite(upper) else 0.0) - 30.0
    high = upper if np.isfinite(upper) else max(low, 0.0) + 30.0
    return [float(x) for x in np.linspace(low, high, count + 2)[1:-1]]


def _sign(
    expression: sympy.Expr, t: sympy.Symbol, lower: float, upper: float
) -> tuple[bool | None, Any]:
    """(True, None) where it is shown to be >= 0 on (lower, upper), (False, point), or (None,
    None).
    """
    import sympy

    if expression.is_nonnegative:
        return True, None
    if expression.is_negative and not expression.has(t):
        return False, "every point"
    if expression.free_symbols <= {t}:
        for point in sample_points(lower, upper):
            value = expression.subs(t, sympy.Rational(point)).evalf(DIGITS)
            if value.is_real and value < -ZERO:
                return False, sympy.Rational(point)
    low, high = (sympy.Rational(x) if np.isfinite(x) else sympy.Float(x) for x in (lower, upper))
    if expression.free_symbols <= {t}:
        try:
            x = sympy.Dummy("x", real=True)
            wrong = sympy.solveset(expression.subs(t, x) < 0, x, sympy.Interval.open(low, high))
        except (NotImplementedError, TypeError, ValueError):
            return None, None
        if wrong is sympy.S.EmptySet:
            return True, None
        return None, None
    # with parameters: t = lower + positive, or upper - positive
    signed = sympy.Dummy("t", positive=True)
    moved = [low + signed] if np.isfinite(lower) else [high - signed] if np.isfinite(upper) else []
    if any(
        sympy.factor(sympy.simplify(expression.subs(t, place))).is_nonnegative for place in moved
    ):
        return True, None
    return None, None
