"""Identities and signs, by algebra; and instances beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sympy

from fairfl._support.manifest import sha256
from fairfl.claims.call import Call
from fairfl.claims.case import quoted
from fairfl.claims.certificates.base import ClaimCertificate, compare_numbers, require
from fairfl.claims.certificates.slips import slipped
from fairfl.claims.exact import decode
from fairfl.claims.words import LEVELS, Level

DIGITS = 40
ZERO = sympy.Rational(1, 10**30)
OPERATIONS = "Symbol Number Add Mul Pow log exp erfc Limit Derivative Tuple"
SMOOTH = tuple(getattr(sympy, name) for name in OPERATIONS.split())
"""What a compared side is made of. No |x|, min or max: one piece would pass for all of them."""
FIRST, FURTHER = (3, 2, 1, 5), (-5, -8, 2, 3)
"""Points: symbol k is (a k + b)/(c k + d), positive where it must be. Sides are compared at the
first, and held to their values at the other, and at one that their numbers choose.
"""
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

    ``residuals`` is () -> {name: (left, right)}, not simplified; for a sign () -> (expression,
    [terms]), of which one is positive for "positive". A term is non-negative where sympy derives it
    from the symbols' assumptions alone. ``numbers`` are the first values of left sides, or that of
    the expression, at this point, "2/7; 0.123457": a model that is wrong on both sides has others.
    """

    residuals: Call[Mapping[str, Residual]] | Call[Decomposition]
    sign: Sign = ""
    numbers: str = ""

    @property
    def level(self) -> Level:
        return "symbolic"

    def verify(self) -> None:
        made: Any = self.residuals()
        pairs = self._pairs(made)
        pieces = [v for v in map(sympy.sympify, sum(pairs.values(), ())) if _has_pieces(v)]
        require(not pieces, f"an identity has no pieces, {pieces[:1]} has")
        require(len(pairs) > 0, "no residual")
        compare_numbers(map(quoted, self._left(pairs)), self.numbers)
        point = spot(*sum(pairs.values(), ()))
        for name, (left, right) in pairs.items():
            residual = sympy.sympify(left) - right
            value = at_point(residual, point)
            require(abs(value) < ZERO, f"{name} is {sympy.N(value, 12)} at {point}")
            remainder = reduced(residual)
            require(remainder == 0, f"{name} does not reduce to zero: {str(remainder):.200}")
        if self.sign:
            self._signed(self._left(pairs)[0], list(map(sympy.sympify, made[1])))

    def values(self) -> str:
        """The values of all left sides at the point, or that of the expression."""
        return "; ".join(map(quoted, self._left(self._pairs(self.residuals()))))

    def elsewhere(self) -> str:
        """Digest of all sides and terms at two more points, and of the atoms of each side.
        A model that is right at the first point alone, or a side put for the other, has another.
        """
        made: Any = self.residuals()
        sides = [made[0], *made[1]] if self.sign else sum(made.values(), ())
        atoms = [_atoms(sympy.sympify(side)) for side in sides]
        chosen = int(sha256(repr(atoms).encode())[:6], 16)
        forms = FURTHER, (chosen % 97 + 5, 13, chosen % 89 + 7, 3)
        points = [spot(*sides, form=form) for form in forms]
        values = [at_point(side, point) for side in sides for point in points]
        texts = ["0" if abs(v) < ZERO else str(sympy.N(v, 12)) for v in values]
        texts += [] if self.sign else [str(left == right) for left, right in made.values()]
        return sha256("\0".join([*texts, repr(atoms)]).encode())[:12]

    def unbroken(self) -> set[str]:
        """The identities that hold at the point with every slip in their function; no signs."""
        if self.sign:
            return set()
        function, given = self.residuals.resolve(), decode(dict(self.residuals.given))
        names = set(self._pairs(self.residuals()))

        def broken() -> set[str]:
            pairs = self._pairs(function(**given))
            point = spot(*sum(pairs.values(), ()))
            values = {n: at_point(sympy.sympify(pairs[n][0]) - pairs[n][1], point) for n in names}
            return {name for name, value in values.items() if not abs(value) < ZERO}

        for broken_names in slipped(function, broken):
            names -= broken_names
            if not names:
                break
        return names

    def _pairs(self, made: Any) -> Mapping[str, Residual]:
        return {"the expression less its terms": (made[0], sum(made[1]))} if self.sign else made

    def _left(self, pairs: Mapping[str, Residual]) -> list[sympy.Expr]:
        """The left sides at the point, of an expression with a sign at that of its own symbols."""
        sides = [left for left, _ in pairs.values()]
        point = spot(*(sides if self.sign else sum(pairs.values(), ())))
        return [at_point(left, point) for left in sides]

    def _signed(self, value: sympy.Expr, terms: list[sympy.Expr]) -> None:
        """The expression, which is ``value`` at the point, has the sign that its terms have."""
        is_strict = self.sign == "positive"
        require(bool(value > 0 if is_strict else value >= 0), f"the expression is {value}")
        for term in terms:
            require(term.is_nonnegative is True, f"not visibly non-negative: {term}")
        is_positive = any(term.is_positive for term in terms)
        require(is_positive or not is_strict, "no term is visibly positive")

    def summary(self) -> str:
        if self.sign:
            return f"{self.residuals} is a sum of {self.sign} terms"
        return f"residuals of {self.residuals} vanish identically (1 spot checks)"


@dataclass(frozen=True)
class Beside(ClaimCertificate):
    """The same statement at instances, computed another way than in the algebra beside them.

    Attributes
    ----------
    parts : certificates that hold. They are verified, and refute variants of the statement; the
        level is that of the algebra, which shows it for all instances.
    """

    parts: tuple[ClaimCertificate, ...]

    @property
    def level(self) -> Level:
        return LEVELS[0]  # the strongest: it lowers none

    def verify(self) -> None:
        for part in self.parts:
            require(part.finding == self.finding, f"beside algebra must hold: {part.summary()}")
            part.verify()

    @property
    def inner(self) -> tuple[ClaimCertificate, ...]:
        return self.parts

    def summary(self) -> str:
        return f"beside it: {'; '.join(part.summary() for part in self.parts)}"


def _atoms(side: sympy.Expr) -> list[str]:
    """Its symbols and numbers, and the names of its operations."""
    operations = {type(node).__name__ for node in sympy.preorder_traversal(side) if node.args}
    return sorted({*map(str, side.atoms()), *operations})


def _has_pieces(expression: sympy.Expr) -> bool:
    """Whether it has more than ``SMOOTH``, or a root of x**2, or of what may be negative."""
    bases: Any = [p.base for p in expression.atoms(sympy.Pow) if not p.exp.is_integer]
    is_smooth = all(isinstance(node, SMOOTH) for node in sympy.preorder_traversal(expression))
    is_even = any(base.is_Pow and base.exp.is_even for base in bases)
    return is_even or not is_smooth or not all(b.is_Symbol or b.is_nonnegative for b in bases)


def spot(*expressions: Any, form: tuple[int, ...] = FIRST) -> dict[sympy.Basic, sympy.Expr]:
    """A value for each symbol, all different: 2/5, 5/6, 8/7, ... by ``FIRST``; whole: 2, 5, 11."""
    symbols = sorted({s for e in map(sympy.sympify, expressions) for s in e.free_symbols}, key=str)
    a, b, c, d = form
    values: dict[sympy.Basic, sympy.Expr] = {}
    for k, symbol in enumerate(symbols):
        value = sympy.Rational(a * k + b, c * k + d)
        value = abs(value) if symbol.is_nonnegative else value
        values[symbol] = sympy.Integer(3 * 2**k + abs(b) - 3) if symbol.is_integer else value
    return values


def at_point(expression: sympy.Expr, point: dict[sympy.Basic, sympy.Expr]) -> sympy.Expr:
    """``expression`` at rational numbers: exact where it is rational, else to 40 digits."""
    # subs, which also compares, is ten times slower
    whole = sympy.sympify(expression)
    slopes = {slope: slope.doit() for slope in whole.atoms(sympy.Derivative)}
    value: Any = whole.xreplace(slopes).xreplace(point).doit()
    return value if value.is_Rational else sympy.N(value, DIGITS)


def reduced(expression: sympy.Expr) -> sympy.Expr:
    """0 where the numerator over one denominator expands to it, or sympy simplifies to it."""
    whole: Any = sympy.sympify(expression).doit()
    numerator: Any = sympy.expand(sympy.fraction(sympy.together(whole))[0])
    return numerator if numerator == 0 else sympy.simplify(whole)  # pyright: ignore[reportReturnType]
