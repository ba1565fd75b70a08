"""Mutants: wrong statements close to a claim's, which its check must not pass."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from fairfl.claims.claim import Check, Claim
from fairfl.claims.effort import QUICK, Effort
from fairfl.claims.evidence import verified
from fairfl.claims.words import Finding


@dataclass(frozen=True)
class MutantOutcome:
    """Whether a mutant was killed, and the reason."""

    name: str
    killed: bool
    reason: str


def mutant_outcomes(
    claim: Claim, effort: Effort, finding: Finding | None
) -> Iterator[MutantOutcome]:
    """Each mutant at the quick effort, and at ``effort`` if it survives that."""
    for name, (_, variant) in claim.mutants.items():
        check = variant if callable(variant) else partial(claim.check, **variant)
        killed, reason = _killed(check, QUICK, finding)
        if not killed and effort != QUICK:
            killed, reason = _killed(check, effort, finding)
        yield MutantOutcome(name, killed, reason)


def _killed(check: Check, effort: Effort, finding: Finding | None) -> tuple[bool, str]:
    """Whether it is killed, and the reason. An exception is a fault and does not kill it."""
    evidence, fault = verified(check, replace(effort, shrink=False))
    if evidence is None or fault:
        return fault.startswith("rejected: "), fault
    return finding not in (None, evidence.finding), f"finding: {evidence.finding}"
