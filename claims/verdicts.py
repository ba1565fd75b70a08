"""Verdicts from findings, repaired forms, and the claims that a claim rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairfl.claims.certificates.base import Level, weakest
from fairfl.claims.claim import Claim, Verdict
from fairfl.claims.registry import order


@dataclass(frozen=True)
class Settled:
    """A claim's verdict, how strongly it is supported, and, where it could not be had, why.

    Attributes
    ----------
    level : the weaker one, where there are two.
    reason : why there is no verdict, or an open one.
    refutation, repair : of a claim that holds repaired, the level of each.
    size : the fixed size for which alone it, or its repaired form, is shown.
    """

    verdict: Verdict | None
    level: Level | None
    reason: str = ""
    refutation: Level | None = None
    repair: Level | None = None
    size: str = ""

    @property
    def levels(self) -> str:
        """The level in words, both where there are two; empty where there is none."""
        size = f" for {self.size}" if self.size else ""
        if self.refutation and self.repair:
            return f"{self.refutation} (repair: {self.repair}{size})"
        return f"{self.level}{size}" if self.level else ""


def settle(
    claims: Sequence[Claim], findings: Mapping[str, tuple[str, Level] | None]
) -> dict[str, Settled]:
    """The verdicts of ``claims``, from what the evidence of each showed by itself.

    A finding holds only as strongly as what it rests on; a claim that rests on one that does not
    hold is open. A claim that is refuted, and whose repaired form holds, holds repaired, at the
    weaker of the two levels.

    Parameters
    ----------
    claims : all that is needed: what they rest on, and their repaired forms.
    findings : by id, the finding and level of the claim's own evidence; None where it was rejected
        or never looked for.
    """
    known = {claim.id: claim for claim in claims}
    result: dict[str, Settled] = {}
    for id in order(claims):
        result[id] = _own(known[id], findings.get(id), result)
    for id, settled in list(result.items()):
        repaired = result.get(known[id].repaired_id)
        if settled.verdict == "refuted" and repaired is not None:
            if repaired.verdict == "holds" and repaired.level and settled.level:
                both = (settled.level, repaired.level)
                result[id] = Settled("holds-repaired", weakest(both), "", *both, repaired.size)
            elif repaired.verdict is None:
                result[id] = Settled(None, None, f"{known[id].repaired_id} has no verdict")
    return result


def _own(claim: Claim, finding: tuple[str, Level] | None, done: Mapping[str, Settled]) -> Settled:
    if finding is None:
        return Settled(None, None, "no accepted evidence")
    verdict, level = finding
    if verdict == "refuted":
        return Settled("refuted", level)  # a counterexample stands by itself
    for other in claim.rests_on:
        below = done[other]
        if below.verdict is None:
            return Settled(None, None, f"{other}, on which it rests, has no verdict")
        if below.verdict != "holds" or below.level is None:  # a repaired form may hold
            return Settled("open", level, f"{other}, on which it rests, is {below.verdict}")
        level = weakest([level, below.level])
    return Settled("holds", level, size=claim.size)
