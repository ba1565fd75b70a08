"""Verdicts from findings, repaired forms, and the claims that a claim rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairfl.claims.certificates.base import weakest
from fairfl.claims.claim import Claim
from fairfl.claims.registry import order
from fairfl.claims.words import Finding, Level, Verdict


@dataclass(frozen=True)
class Settled:
    """A claim's verdict and its level, or why there is none.

    Attributes
    ----------
    level : the weaker of refutation and repair, where there are both.
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
    claims: Sequence[Claim], findings: Mapping[str, tuple[Finding, Level] | None]
) -> dict[str, Settled]:
    """The verdicts of ``claims``, from the finding of each one's own evidence.

    A claim's level is at most that of the claims that it rests on; a claim that rests on one that
    does not hold is open. A refuted claim whose repaired form holds is "holds-repaired", at the
    weaker of the two levels. ``claims`` are with all that they rest on.
    """
    by_id = {claim.id: claim for claim in claims}
    verdicts: dict[str, Settled] = {}
    for id in order(claims):
        verdicts[id] = _unrepaired(by_id[id], findings.get(id), verdicts)
    for id, settled in list(verdicts.items()):
        repaired = verdicts.get(by_id[id].repaired_id)
        if settled.verdict == "refuted" and repaired is not None:
            if repaired.verdict == "holds" and repaired.level and settled.level:
                levels = (settled.level, repaired.level)
                level = weakest(levels)
                verdicts[id] = Settled("holds-repaired", level, "", *levels, repaired.size)
            elif repaired.verdict is None:
                verdicts[id] = Settled(None, None, f"{by_id[id].repaired_id} has no verdict")
    return verdicts


def _unrepaired(
    claim: Claim, finding: tuple[Finding, Level] | None, verdicts: Mapping[str, Settled]
) -> Settled:
    if finding is None:
        return Settled(None, None, "no accepted evidence")
    verdict, level = finding
    if verdict == "refuted":
        return Settled("refuted", level)  # a counterexample needs no other claim
    for dependency in claim.rests_on:
        support = verdicts[dependency]
        if support.verdict is None:
            return Settled(None, None, f"{dependency}, on which it rests, has no verdict")
        if support.verdict != "holds" or support.level is None:  # a repaired form may hold
            return Settled("open", level, f"{dependency}, on which it rests, is {support.verdict}")
        level = weakest([level, support.level])
    return Settled("holds", level, size=claim.size)
