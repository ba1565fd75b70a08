"""Mutants: statements next to a claim's that are wrong, and that its check must not pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from fairfl.claims.claim import QUICK, Check, Claim, Effort
from fairfl.claims.evidence import verified


@dataclass(frozen=True)
class MutantOutcome:
    """What became of a mutant: killed, and by what; or alive."""

    name: str
    change: str
    killed: bool
    reason: str


def tried(claim: Claim, effort: Effort, finding: str | None) -> Iterator[MutantOutcome]:
    """Each mutant at the quick effort, and at the effort asked for if it survives that."""
    for name, (change, how) in claim.mutants.items():
        check = how if callable(how) else partial(claim.check, **how)
        killed, reason = _killed(check, QUICK, finding)
        if not killed and effort != QUICK:
            killed, reason = _killed(check, effort, finding)
        yield MutantOutcome(name, change, killed, reason)


def _killed(check: Check, effort: Effort, finding: str | None) -> tuple[bool, str]:
    """Whether it is killed, and how. An exception is a fault, and kills nothing."""
    evidence, fault = verified(check, replace(effort, shrink=False))
    if evidence is None or fault:
        return fault.startswith("rejected: "), fault
    return finding not in (None, evidence.finding), f"finding: {evidence.finding}"
