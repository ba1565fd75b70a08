"""A statement at one instance: its premises, and the relations between numbers that it asserts."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal, Self

from flint import arb, fmpq
from sympy import Expr, Float, sympify

from fairfl.claims.exact import ball

Operator = Literal["<", "<=", "==", "!="]
Number = int | Fraction | fmpq | arb | Expr | float
"""A float counts as inexact, and a number of sympy where one is in it."""

_TESTS: dict[str, Callable[[Any, Any], Any]] = {"<": lt, "<=": le, "==": eq, "!=": ne}
_NEGATED: dict[str, Callable[[Any, Any], Any]] = {"<": ge, "<=": gt, "==": ne, "!=": eq}

NOISE = 1e-7
"""A float below this is quoted as 0: what rounding leaves differs between machines."""
TINY = sys.float_info.min
"""Minus this is the margin of a strict relation between equal numbers: the relation is violated."""


@dataclass(frozen=True)
class Relation:
    """``left`` operator ``right``, with numbers of one of three kinds.

    Exact ones (int, Fraction, fmpq, sympy numbers) compare as they are; balls (arb) only where that
    is certain, so that :meth:`holds` and :meth:`fails` may both be False; floats are inexact, and
    have a ``margin`` to be judged by.

    Attributes
    ----------
    left, operator, right : read in this order; for "greater than" turn them round.
    name : which part of the statement this is, where it has several.
    scale : positive; the margin is in units of it.
    """

    left: Number
    operator: Operator
    right: Number
    name: str = ""
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.operator not in _TESTS:
            raise ValueError(f"operator must be one of <, <=, ==, !=, got {self.operator!r}")
        if not self.scale > 0:
            raise ValueError(f"scale must be positive, got {self.scale!r}")

    @property
    def exact(self) -> bool:
        """Whether both sides are exact numbers or balls."""
        return _is_exact(self.left) and _is_exact(self.right)

    def holds(self) -> bool:
        """Certainly true; for floats, true of the floats."""
        return bool(_TESTS[self.operator](*self._sides()))

    def fails(self) -> bool:
        """Certainly false; for floats, false of the floats."""
        return bool(_NEGATED[self.operator](*self._sides()))

    @property
    def margin(self) -> float:
        """How far from failing, >= 0 where it holds: right - left, or -|right - left| for ==."""
        difference = (_approximate(self.right) - _approximate(self.left)) / self.scale
        if self.operator == "==":
            return -abs(difference)
        if self.operator in ("<", "!=") and difference == 0 and self.fails():
            return -TINY
        return abs(difference) if self.operator == "!=" else difference

    @property
    def numbers(self) -> str:
        """Both sides, exact where that takes at most 12 characters, else to six digits."""
        return f"{quoted(self.left)} {self.operator} {quoted(self.right)}"

    def __str__(self) -> str:
        return f"{self.name}: {self.numbers}" if self.name else self.numbers

    def _sides(self) -> tuple[object, object]:
        left, right = _common(self.left), _common(self.right)
        if isinstance(left, arb) or isinstance(right, arb):
            # a number of sympy must be rational here
            return ball(self.left), ball(self.right)  # pyright: ignore[reportArgumentType]
        if isinstance(left, Expr) or isinstance(right, Expr):
            return sympify(left), sympify(right)
        return left, right


@dataclass(frozen=True)
class Case:
    """What a statement says at one instance.

    Attributes
    ----------
    relations : all of them are claimed, wherever all premises hold.
    premises : each hypothesis by name, whether the instance satisfies it (certainly, where it took
        balls).
    """

    relations: tuple[Relation, ...]
    premises: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.relations:
            raise ValueError("a case must have at least one relation, got none")

    @classmethod
    def outside(cls, premises: Mapping[str, bool]) -> Self:
        """Of an instance that breaks a premise: nothing is said of it."""
        return cls((Relation(0, "==", 0),), premises)

    @property
    def applies(self) -> bool:
        """Whether every premise holds."""
        return all(self.premises.values())

    @property
    def worst(self) -> Relation:
        """The relation of the smallest margin; of a float that is NaN, that one."""
        return min(
            self.relations, key=lambda r: r.margin if r.margin == r.margin else float("-inf")
        )

    @property
    def margin(self) -> float:
        """The smallest margin of its relations."""
        return self.worst.margin

    @property
    def broken(self) -> Relation | None:
        """A relation that certainly fails, or None."""
        return next((r for r in self.relations if r.fails()), None)

    @property
    def numbers(self) -> str:
        """The numbers of all relations, each pair once with its count, and the broken premises."""
        sides = ((_noiseless(r.left), r.operator, _noiseless(r.right)) for r in self.relations)
        texts = Counter(map(" ".join, sides))
        pairs = [f"{count} times {text}" if count > 1 else text for text, count in texts.items()]
        return "; ".join(pairs + [f"not {n}" for n, holds in self.premises.items() if not holds])

    @property
    def exact(self) -> bool:
        """Whether all its numbers are exact or balls."""
        return all(r.exact for r in self.relations)


def quoted(value: Number) -> str:
    """A number as it is quoted: exact in at most 12 characters, else to six digits."""
    number = _common(value)
    is_short = not isinstance(number, (arb, float)) and len(str(number)) <= 12
    return str(number) if is_short else f"{_approximate(number):.6g}"


def _noiseless(number: Number) -> str:
    return "0" if isinstance(number, float) and abs(number) < NOISE else quoted(number)


def _is_exact(value: Number) -> bool:
    if isinstance(value, Expr):
        return bool(value.is_number) and not value.has(Float)
    return isinstance(value, (int, Fraction, fmpq, arb)) and not hasattr(value, "dtype")


def _common(value: Number) -> Number:
    """fmpq as Fraction and sympy's Float as float, which compare with everything but balls."""
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    return float(value) if isinstance(value, Float) else value


def _approximate(value: Number) -> float:
    return float(value.mid()) if isinstance(value, arb) else float(_common(value))
