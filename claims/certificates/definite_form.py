"""A sign, by algebra: the expression is a sum of visibly non-negative terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates.base import ClaimCertificate, require
from fairfl.claims.certificates.symbolic_zero import at_point, reduced
from fairfl.claims.exact import decode
from fairfl.claims.words import Level


@dataclass(frozen=True)
class DefiniteForm(ClaimCertificate):
    """expression = sum of terms, every term non-negative (``strict``: one of them positive), so
    expression >= 0 (> 0).

    Attributes
    ----------
    form : () -> (expression, [terms]); symbols carry the assumptions (real, positive) of the
        statement. A term is non-negative when sympy derives it from these alone: squares, and
        products of symbols declared non-negative.
    points : satisfy the assumptions; the expression is evaluated at each of them too.
    strict : whether positivity is shown.
    """

    form: Call
    points: tuple[dict[str, Any], ...]
    strict: bool = False

    @property
    def level(self) -> Level:
        return "symbolic"

    def verify(self) -> None:
        require(len(self.points) > 0, "no point to check at")
        expression, terms = self.form()
        for point in self.points:
            value = at_point(expression, decode(point))
            require(
                bool(value > 0 if self.strict else value >= 0),
                f"the expression is {value} at {point}",
            )
        remainder = reduced(expression - sum(terms))
        require(
            remainder == 0, f"the terms do not sum to the expression: {str(remainder):.200} is left"
        )
        for term in terms:
            require(sympy.sympify(term).is_nonnegative is True, f"not visibly non-negative: {term}")
        if self.strict:
            require(
                any(sympy.sympify(term).is_positive for term in terms),
                "no term is visibly positive",
            )

    def summary(self) -> str:
        return f"{self.form} is a sum of {'positive' if self.strict else 'non-negative'} terms"
