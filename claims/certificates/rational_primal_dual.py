"""The optimum of a linear programme, by an exact primal-dual pair."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairfl.claims.call import Call
from fairfl.claims.certificates.base import Certificate, Level, require


@dataclass(frozen=True)
class RationalPrimalDual(Certificate):
    """min c.x over x >= 0, A x >= b is ``value``: x is feasible, y >= 0 with y A <= c is too, and
    c.x = y.b = value.

    Attributes
    ----------
    programme : () -> (c, A, b, value) in exact rationals, A a list of rows; ``value`` is what the
        statement claims.
    primal, dual : x and y, "p/q" each.
    """

    programme: Call
    primal: tuple[str, ...]
    dual: tuple[str, ...]

    @property
    def level(self) -> Level:
        return "certified"

    def verify(self) -> None:
        c, rows, b, value = self.programme()
        x, y = [Fraction(v) for v in self.primal], [Fraction(v) for v in self.dual]
        require(
            len(x) == len(c) and len(y) == len(b) == len(rows),
            "the pair does not fit the programme",
        )
        require(all(v >= 0 for v in x + y), "a negative variable")
        for k, row in enumerate(rows):
            require(_dot(row, x) >= b[k], f"the primal point misses row {k}")
        for j, cost in enumerate(c):
            require(_dot([row[j] for row in rows], y) <= cost, f"the dual point misses column {j}")
        require(_dot(c, x) == value, f"the primal value is {_dot(c, x)}, claimed is {value}")
        require(_dot(b, y) == value, f"the dual value is {_dot(b, y)}, claimed is {value}")

    def summary(self) -> str:
        return (
            f"optimum of {self.programme} by an exact primal-dual pair ({len(self.primal)} "
            f"and {len(self.dual)})"
        )


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((Fraction(u) * v for u, v in zip(a, b, strict=True)), Fraction(0))
