"""Identities and signs, by algebra."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import quoted
from fairfl.claims.certificates.base import ClaimCertificate, compare_numbers, require
from fairfl.claims.words import Level

DIGITS = 40
ZERO = sympy.Rational(1, 10**30)
PIECES = sympy.Abs, sympy.Max, sympy.Min, sympy.sign, sympy.Piecewise, sympy.floor, sympy.ceiling
"""An identity of one piece would pass for one of all: none may be in what is compared."""
Sign = Literal["", "non-negative", "positive"]
Residual = tuple[Any, Any]
Decomposition = tuple[sympy.Expr, list[sympy.Expr]]
"""An expression, and terms of the same sum, each of which is visibly non-negative."""


@dataclass(frozen=True)
class SymbolicZero(ClaimCertificate):
    """Each residual is identically zero on the domain of its symbols' assumptions. With a ``sign``
    it is an expression less terms that have it visibly: so the expression has it too.

    The *unsimplified* expressions are zero, or have this sign, at one point too: a second check
    that uses no simplification rule.

    Attributes
    ----------
    residuals : () -> {name: (left, right)}, not simplified; for a sign
        () -> (expression, [terms]). Symbols carry the assumptions (real, positive) of the
        statement. A term is non-negative when sympy derives it from these alone: squares, and
        products of symbols declared non-negative.
    sign : "", or "non-negative", or "positive": one of the terms is.
    numbers : the first values of left sides, or that of the expression, at this point, "2/7;
        0.123457": a model that is wrong on both sides has others.
    """

    residuals: Call[Mapping[str, Residual]] | Call[Decomposition]
    sign: Sign = ""
    numbers: str = ""

    @property
    def level(self) -> Level:
        return "symbolic"

    def verify(self) -> None:
        residuals: Any = self.residuals()
        sides = [residuals[0]] if self.sign else [v for pair in residuals.values() for v in pair]
        pieces = [v for v in map(sympy.sympify, sides) if v.has(*PIECES)]
        require(not pieces, f"an identity has no pieces, {pieces[:1]} has")
        if self.sign:
            self._signed(*residuals)
            return
        require(len(residuals) > 0, "no residual")
        point = _point(residuals)
        self._compare(_left(residuals))
        for name, (left, right) in residuals.items():
            residual = sympy.sympify(left) - right
            value = at_point(residual, point)
            require(abs(value) < ZERO, f"{name} is {sympy.N(value, 12)} at {point}")
            _vanishes(residual, name)

    def values(self) -> str:
        """The values of all left sides at the point, or that of the expression."""
        made: Any = self.residuals()
        left = [at_point(made[0], spot(made[0]))] if self.sign else _left(made)
        return "; ".join(map(quoted, left))

    def _compare(self, values: Iterable[sympy.Expr]) -> None:
        compare_numbers(map(quoted, values), self.numbers)

    def _signed(self, expression: sympy.Expr, terms: list[sympy.Expr]) -> None:
        point = spot(expression)
        value = at_point(expression, point)
        self._compare([value])
        is_strict = self.sign == "positive"
        has_sign = bool(value > 0 if is_strict else value >= 0)
        require(has_sign, f"the expression is {value} at {point}")
        _vanishes(expression - sum(terms), "the expression less its terms")
        for term in map(sympy.sympify, terms):
            require(term.is_nonnegative is True, f"not visibly non-negative: {term}")
        is_positive = any(sympy.sympify(term).is_positive for term in terms)
        require(is_positive or not is_strict, "no term is visibly positive")

    def summary(self) -> str:
        if self.sign:
            return f"{self.residuals} is a sum of {self.sign} terms"
        return f"residuals of {self.residuals} vanish identically (1 spot checks)"


def spot(*expressions: sympy.Expr) -> dict[sympy.Basic, sympy.Expr]:
    """A value for each symbol, all different: 2/5, 5/6, 8/7, ...; integers 2, 5, 11, ..."""
    symbols = sorted({s for e in map(sympy.sympify, expressions) for s in e.free_symbols}, key=str)
    return {
        symbol: sympy.Rational(3 * 2**k - 1 if symbol.is_integer else Fraction(3 * k + 2, k + 5))
        for k, symbol in enumerate(symbols)
    }


def _left(residuals: Mapping[str, Residual]) -> Iterable[sympy.Expr]:
    """The left sides at the point."""
    point = _point(residuals)
    return (at_point(left, point) for left, _ in residuals.values())


def _point(residuals: Mapping[str, Residual]) -> dict[sympy.Basic, sympy.Expr]:
    return spot(*(side for pair in residuals.values() for side in pair))


def at_point(expression: sympy.Expr, point: dict[sympy.Basic, sympy.Expr]) -> sympy.Expr:
    """``expression`` at rational numbers: exact where it is rational, else to 40 digits."""
    # subs, which also compares, is ten times slower
    value: Any = sympy.sympify(expression).xreplace(point).doit()
    return value if value.is_Rational else sympy.N(value, DIGITS)


def reduced(expression: sympy.Expr) -> sympy.Expr:
    """0 where the numerator over one denominator expands to it, or sympy simplifies to it."""
    whole: Any = sympy.sympify(expression).doit()
    numerator: Any = sympy.expand(sympy.fraction(sympy.together(whole))[0])
    return numerator if numerator == 0 else sympy.simplify(whole)  # pyright: ignore[reportReturnType]


def _vanishes(residual: sympy.Expr, name: str) -> None:
    remainder = reduced(residual)
    require(remainder == 0, f"{name} does not reduce to zero: {str(remainder):.200}")
