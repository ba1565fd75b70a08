"""The function s of a Kolmogorov mean: inverse, derivative, and whether the mean is convex."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfl._support.checks import Array

if TYPE_CHECKING:
    import sympy

    from fairfl.theory.aggregation._base import Objective

PLAIN = ("Add", "Mul", "Pow", "exp", "log", "sinh", "cosh", "tanh", "asinh", "atan", "tan")
DIGITS = 50  # of the evaluations that look for a point where a sign is wrong
ZERO = 1e-30  # what such an evaluation may leave of a zero
Function = Callable[[Array], Any]


@dataclass(frozen=True)
class Generator:
    """s, its inverse and derivative as functions of arrays; what could be decided, else None."""

    s: Function
    inverse: Function | None
    slope: Function | None
    convex: bool | None = None
    s_convex: bool | None = None
    equivariant: bool | None = None
    homogeneous: bool | None = None
    special_case: Objective | None = None


def generator(s: Any, inverse: Any, derivative: Any, lower: float, upper: float) -> Generator:
    """Read s; ValueError when it is no function, of several symbols, or not increasing."""
    sympy = sys.modules.get("sympy")
    if sympy is not None and isinstance(s, sympy.Expr):
        return _symbolic(s, lower, upper)
    if not callable(s):
        raise ValueError(f"s must be a sympy expression or a function, got {s!r}")
    for name, function in (("inverse", inverse), ("derivative", derivative)):
        if function is not None and not callable(function):
            raise ValueError(f"{name} must be a function, got {function!r}")
    points = np.asarray(sample_points(lower, upper))
    with np.errstate(all="ignore"):
        _increasing(np.asarray(s(points), dtype=np.float64), points)
    return Generator(s, inverse, derivative)


@functools.lru_cache(maxsize=256)
def _symbolic(s: Any, lower: float, upper: float) -> Generator:
    import sympy

    if len(s.free_symbols) != 1:
        raise ValueError(
            f"s must be an expression in one symbol, got {s} with "
            f"{sorted(map(str, s.free_symbols))}"
        )
    (symbol,) = s.free_symbols
    t = sympy.Symbol("t", real=True, **({"nonnegative": True} if lower >= 0 else {}))
    s = sympy.sympify(s.subs(symbol, t))
    points = sample_points(lower, upper)
    values = [complex(s.subs(t, x).evalf()) for x in points]
    if any(abs(value.imag) > 1e-12 or value != value for value in values):
        raise ValueError(f"s must be real between lower and upper, got {s}")
    _increasing(np.array([value.real for value in values]), np.asarray(points))
    first, second = sympy.diff(s, t), sympy.simplify(sympy.diff(s, t, 2))
    # s'/s'': constant for exp, linear for powers
    tolerance = None if second == 0 else sympy.simplify(first / second)
    return Generator(
        _compiled(t, s),
        _inverse(s, t, points),
        _compiled(t, sympy.simplify(first)),
        *convexity(first, second, t, lower, upper),
        tolerance is None or not tolerance.has(t),
        tolerance is None or not sympy.simplify(tolerance / t).has(t),
        _special_case(tolerance, t, lower, upper),
    )


def _special_case(tolerance: Any, t: Any, lower: float, upper: float) -> Objective | None:
    """The named objective with this s'/s'' *and* this domain: a conjugate depends on both."""
    import sympy

    from fairfl.theory.aggregation.fedavg import FedAvg
    from fairfl.theory.aggregation.propfair import PropFair
    from fairfl.theory.aggregation.qffl import QFFL
    from fairfl.theory.aggregation.term import TERM

    whole_line = np.isneginf(lower) and np.isposinf(upper)
    if tolerance is None:
        if whole_line:
            return FedAvg()
        return QFFL(0.0) if lower == 0 and np.isposinf(upper) else None
    if not tolerance.has(t):
        return TERM(1 / float(tolerance)) if whole_line and tolerance > 0 else None
    slope = sympy.simplify(sympy.diff(tolerance, t))
    if slope.has(t):
        return None
    start = sympy.simplify(tolerance - slope * t)
    if start == 0 and slope > 0 and lower == 0 and np.isposinf(upper):
        return QFFL(1 / float(slope))
    if slope == -1 and np.isneginf(lower) and float(start) == upper and upper > 0:
        return PropFair(float(start))
    return None


def _inverse(s: Any, t: Any, points: list[float]) -> Function | None:
    """The solution of s(t) = y that gives the sample points back, or None."""
    import sympy

    y = sympy.Symbol("y", real=True)
    try:
        solutions = sympy.solve(sympy.Eq(s, y), t)
    except NotImplementedError:
        return None
    small_points = [x for x in points if abs(x) <= 5] or points
    for candidate in solutions:
        pairs = [(complex(candidate.subs(y, s.subs(t, x)).evalf(30)), x) for x in small_points]
        plain = all(
            type(part).__name__ in PLAIN
            for part in sympy.preorder_traversal(candidate)
            if part.args
        )
        if plain and all(abs(back - x) <= 1e-9 * (1 + abs(x)) for back, x in pairs):
            return _compiled(y, candidate)
    return None


def _compiled(symbol: Any, expression: Any) -> Function:
    import sympy

    if not expression.has(symbol):
        return lambda x: np.full_like(x, float(expression))
    return sympy.lambdify(symbol, expression, modules="numpy")


def _increasing(values: Array, points: Array) -> None:
    if values.shape != points.shape:
        raise ValueError(
            f"s must map arrays to arrays of their shape, got {values.shape} for {points.shape}"
        )
    finite = np.isfinite(values)  # overflow is met when it happens, at the losses
    steps = np.diff(values[finite])
    if (steps < 0).any() or (np.abs(steps) == 0).all():
        at = points[finite][int(np.argmin(steps))] if steps.size else np.nan
        raise ValueError(
            "s must be increasing (a decreasing s gives the same mean as -s), got s falling at "
            f"{at:g}"
        )


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
