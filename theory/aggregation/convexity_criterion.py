"""Whether a Kolmogorov mean is convex: the criterion of Ben-Tal and Teboulle (1986), decided with
sympy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import sympy

DIGITS = 50  # of the evaluations that look for a point where a sign is wrong
ZERO = 1e-30  # what such an evaluation may leave of a zero


def convexity(
    first: sympy.Expr, second: sympy.Expr, t: sympy.Symbol, lower: float, upper: float
) -> tuple[bool | None, bool | None]:
    """Whether A_s(f) = s^-1((1/n) sum_i s(f_i)), s increasing, is convex on [lower, upper]^n for
    every n, and whether s is; from s' and s''. None: not decided.

    A_s is convex iff s is linear, or s'' > 0 inside and -s'/s'' is convex. The paper supposes s
    convex; without it the criterion is not enough: at f = (t, ..., t) the Hessian of A_s is s''/s'
    times a positive semidefinite matrix, so s'' >= 0 is needed. A_s is Schur-convex
    iff s is convex.
    Source: PropFair, section 4.1; Ben-Tal and Teboulle (1986), theorem 1; Hardy, Littlewood, Polya,
    theorem 106.
    """
    import sympy

    if second == 0:
        return True, True
    s_convex = _nonnegative(second, t, lower, upper)
    curvature = sympy.simplify(sympy.diff(sympy.simplify(-first / second), t, 2))
    both = s_convex, _nonnegative(curvature, t, lower, upper)
    return (False if False in both else None if None in both else True), s_convex


def sample_points(lower: float, upper: float, count: int = 41) -> list[float]:
    """Points strictly inside (lower, upper), with the unbounded sides cut at 30 away."""
    low = lower if np.isfinite(lower) else (upper if np.isfinite(upper) else 0.0) - 30.0
    high = upper if np.isfinite(upper) else max(low, 0.0) + 30.0
    return [float(x) for x in np.linspace(low, high, count + 2)[1:-1]]


def _nonnegative(
    expression: sympy.Expr, t: sympy.Symbol, lower: float, upper: float
) -> bool | None:
    """Whether it is shown to be >= 0 on (lower, upper), False: it is negative at a point."""
    import sympy

    if expression.is_nonnegative:
        return True
    for point in sample_points(lower, upper):
        value = expression.subs(t, sympy.Rational(point)).evalf(DIGITS)
        if value.is_real and value < -ZERO:
            return False
    low, high = (sympy.Rational(x) if np.isfinite(x) else sympy.Float(x) for x in (lower, upper))
    x = sympy.Dummy("x", real=True)
    try:
        wrong = sympy.solveset(expression.subs(t, x) < 0, x, sympy.Interval.open(low, high))
    except (NotImplementedError, TypeError, ValueError):
        return None
    return True if wrong is sympy.S.EmptySet else None
