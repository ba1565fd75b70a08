"""An identity, by algebra: its residual simplifies to zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates.base import ClaimCertificate, Rejected, require
from fairfl.claims.exact import decode
from fairfl.claims.words import Level

DIGITS = 40
ZERO = sympy.Rational(1, 10**30)


@dataclass(frozen=True)
class SymbolicZero(ClaimCertificate):
    """Each residual is identically zero on the domain of its symbols' assumptions.

    Attributes
    ----------
    residuals : () -> {name: sympy expression}, the two sides' differences, not simplified.
    points : {symbol: "p/q"}, at least one, with a value for every symbol. The *unsimplified*
        residuals are evaluated there: a second check that uses no simplification rule.
    """

    residuals: Call
    points: tuple[dict[str, Any], ...]

    @property
    def level(self) -> Level:
        return "symbolic"

    def verify(self) -> None:
        require(len(self.points) > 0, "no point to check at")
        residuals = self.residuals()
        require(len(residuals) > 0, "no residual")
        for name, residual in residuals.items():
            for point in self.points:
                value = at_point(residual, decode(point))
                require(abs(value) < ZERO, f"{name} is {sympy.N(value, 12)} at {point}")
            remainder = reduced(residual)
            require(remainder == 0, f"{name} does not reduce to zero: {str(remainder):.200}")

    def summary(self) -> str:
        return f"residuals of {self.residuals} vanish identically ({len(self.points)} spot checks)"


def reduced(expression: Any) -> sympy.Expr:
    """0 where the numerator over one denominator expands to it, or sympy simplifies to it."""
    whole: Any = sympy.sympify(expression).doit()
    numerator: Any = sympy.expand(sympy.fraction(sympy.together(whole))[0])
    return numerator if numerator == 0 else sympy.simplify(whole)  # pyright: ignore[reportReturnType]


def at_point(expression: sympy.Expr, point: dict[str, Any]) -> sympy.Expr:
    """``expression`` with rational numbers for its symbols: exact where it is rational, else to 40
    digits.
    """
    values = {s: _number(point, s) for s in expression.free_symbols}
    value: Any = expression.xreplace(
        values
    ).doit()  # subs, which also compares, takes ten times as long
    return value if value.is_Rational else sympy.N(value, DIGITS)


def _number(point: dict[str, Any], symbol: sympy.Basic) -> sympy.Expr:
    if str(symbol) not in point:
        raise Rejected(f"the point {point} has no value for {symbol}")
    return sympy.Rational(str(point[str(symbol)]))
