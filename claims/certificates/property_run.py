"""A statement tested on drawn instances, and the worst margins."""

from dataclasses import dataclass
from typing import Any, Self

from hypothesis.strategies import SearchStrategy

from fairfl.claims.call import Call
from fairfl.claims.case import Case
from fairfl.claims.certificates.base import ClaimCertificate, require
from fairfl.claims.draws import Tally, draw
from fairfl.claims.effort import Effort
from fairfl.claims.exact import Instance, decode
from fairfl.claims.words import Level

MOST_DISCARDED = 0.5
"""Largest share of drawn instances that may break a premise."""
FIRST = 5
"""Number of instances drawn again when a run is verified; :meth:`PropertyRun.replay` draws all."""
SAME = 1e-9
"""Relative tolerance at which margins are equal: another machine's libraries round otherwise."""


@dataclass(frozen=True)
class PropertyRun(ClaimCertificate):
    """The statement held at every instance that was drawn: of ``asked`` ones ``examples`` satisfied
    the premises and ``discarded`` did not; the strategy may have no more. Margins above minus
    ``tolerance`` count as rounding; ``worst`` is an instance of the smallest, {"instance",
    "margin"}, or empty. Numbers of the fields ``moved`` have neighbours, where it held too.
    """

    statement: Call[Case]
    tolerance: float
    worst: dict[str, Any]
    draws: Call[SearchStrategy[Instance]]
    asked: int
    examples: int
    discarded: int
    seed: int
    moved: str = ""

    @classmethod
    def of(
        cls,
        statement: Call[Case],
        draws: Call[SearchStrategy[Instance]],
        effort: Effort,
        *,
        tolerance: float = 1e-9,
        seed: int = 0,
        examples: int | None = None,
        moved: str = "",
    ) -> Self:
        """Draw ``examples`` instances, by default as many as the effort states, and evaluate them.

        The first violation stops the search, and hypothesis shrinks it where the effort says so. It
        is then ``worst``, and the certificate is rejected when it is verified.
        """
        tally = Tally(statement, tolerance, moved)
        count = effort.examples if examples is None else examples
        draw(tally, draws, count, seed, shrink=effort.shrink)
        counts = tally.examples, tally.discarded
        return cls(statement, tolerance, tally.worst, draws, count, *counts, seed, moved)

    @property
    def level(self) -> Level:
        return "property"

    def verify(self) -> None:
        require(self.examples > 0 and bool(self.worst), "no instance satisfied the premises")
        margin, case = self.worst["margin"], self._case()
        require(case.applies, f"the worst instance breaks the premises {dict(case.premises)}")
        difference = 0.0 if case.margin == margin else abs(case.margin - margin)
        is_equal = difference <= SAME * max(1.0, abs(margin))
        require(is_equal, f"the margin {margin:.6g} is {case.margin:.6g} when computed again")
        require(case.margin >= -self.tolerance, f"violated by {-case.margin:.6g}: {case.worst}")
        share = self.discarded / (self.examples + self.discarded)
        message = f"{share:.0%} of the instances were discarded, more than {MOST_DISCARDED:.0%}"
        require(share <= MOST_DISCARDED, message)
        self._drawn_again(FIRST)

    def replay(self) -> None:
        super().replay()
        count = self._drawn_again(None)
        message = f"{count} examples satisfy the premises when drawn again, not {self.examples}"
        require(count >= self.examples, message)

    def premises(self) -> frozenset[str]:
        return frozenset(self._case().premises) if self.worst else frozenset()

    def _case(self) -> Case:
        return self.statement(decode(self.worst["instance"]))

    def _drawn_again(self, limit: int | None) -> int:
        """Draw all instances, or the first ones, again; the number that satisfied the premises."""
        tally = Tally(self.statement, self.tolerance, self.moved)
        is_violated = draw(tally, self.draws, self.asked, self.seed, limit)
        require(not is_violated, f"drawn again, violated at {tally.worst}")
        return tally.examples

    def summary(self) -> str:
        share = self.discarded / max(1, self.examples + self.discarded)
        margin = self.worst.get("margin", float("nan"))
        place = " and next to them" if self.moved else ""
        counts = f"{self.examples} examples{place}, {share:.1%} discarded"
        return f"{counts}; smallest margin {margin:.3g}"
