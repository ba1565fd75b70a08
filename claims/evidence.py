"""The result of a check: certificates and their joint finding."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from fairfl._support.own_parts import place_of
from fairfl.claims.call import values_kept
from fairfl.claims.certificates.base import ClaimCertificate, Rejected, from_json, weakest
from fairfl.claims.effort import Effort
from fairfl.claims.words import Finding, Level


@dataclass(frozen=True)
class Evidence:
    """Certificates of one statement.

    Attributes
    ----------
    parts : all of them are needed, but one counterexample alone refutes the statement.
    negation : whether the parts together prove that the statement is false, e.g. an existence.
    """

    parts: tuple[ClaimCertificate, ...]
    negation: bool = False

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("evidence must have at least one certificate, got none")
        if self.negation and {part.finding for part in self.parts} != {"holds"}:
            raise ValueError("negation must be shown by certificates that hold, got others")

    @classmethod
    def of(cls, *parts: ClaimCertificate) -> Self:
        """Evidence of these certificates."""
        return cls(parts)

    @property
    def finding(self) -> Finding:
        """Refuted by one counterexample or a proof of the negation, else holds."""
        if self.negation:
            return "refuted"
        findings = {part.finding for part in self.parts}
        return "refuted" if "refuted" in findings else "holds"

    @property
    def level(self) -> Level:
        """The weakest level of all parts, or the strongest of the counterexamples."""
        if self.finding == "refuted" and not self.negation:
            levels: list[Level] = [part.level for part in self.parts if part.finding == "refuted"]
            return "certified" if "certified" in levels else weakest(levels)
        return weakest([part.level for part in self.parts])

    def verify(self, whole: bool = False) -> tuple[str, ...]:
        """Verify every certificate, for ``whole`` on all examples of property runs; returns the
        parts that this machine could not check. Rejected: one is invalid.
        """
        for certificate in self.parts:
            certificate.replay() if whole else certificate.verify()
        return tuple(filter(None, (certificate.unchecked() for certificate in self.parts)))

    def to_json(self) -> dict[str, object]:
        return {"parts": [c.to_json() for c in self.parts], "negation": self.negation}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(tuple(map(from_json, data["parts"])), data["negation"])


def verified(check: Callable[[Effort], Evidence], effort: Effort) -> tuple[Evidence | None, str]:
    """The evidence, read back from its JSON, and why it is rejected; "" where it is valid."""
    evidence = None
    try:
        made = check(effort).to_json()
        with values_kept():  # none of those with which it was made
            evidence = Evidence.from_json(made)
            evidence.verify()
    except Rejected as error:
        return evidence, f"rejected: {error}"
    except Exception as error:  # a failed check must not stop the others
        place = place_of(error)  # in a user's own file, where no traceback is needed
        return None, f"{place}: {error!r}" if place else traceback.format_exc()
    return evidence, ""
