"""The outcome of a claim: evidence verified and mutants tried, as JSON."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from fairfl.claims.call import values_kept
from fairfl.claims.certificates import ClaimCertificate, Counterexample, Witness
from fairfl.claims.certificates.base import require
from fairfl.claims.claim import Check, Claim
from fairfl.claims.compared import misread
from fairfl.claims.effort import QUICK, Effort
from fairfl.claims.evidence import Evidence, verified
from fairfl.claims.instances import unheld
from fairfl.claims.words import Finding, Level


@dataclass(frozen=True)
class MutantOutcome:
    """Whether a mutant was killed, and the reason."""

    name: str
    killed: bool
    reason: str


@dataclass(frozen=True)
class Outcome:
    """Outcome of one claim's own check, before the claims that it rests on are counted.

    ``finding`` and ``level`` are None where the evidence was rejected, or the check failed:
    ``fault`` is the certificate's rejection, or the traceback. ``seconds`` are not recorded.
    """

    id: str
    effort: str
    finding: Finding | None
    level: Level | None
    evidence: Evidence | None
    mutants: tuple[MutantOutcome, ...]
    fault: str = ""
    seconds: float = field(default=0.0, compare=False)

    def verify(self, whole: bool = False) -> tuple[str, ...]:
        """Verify the certificates again, see :meth:`Evidence.verify`, and that finding and level
        agree with them; returns the parts that this machine could not check, a line each.
        Rejected: one of them does not show what it says.
        """
        if self.evidence is None:
            require(self.finding is None and self.level is None, "there is no evidence that counts")
            return ()
        shown = (self.evidence.finding, self.evidence.level)
        recorded = (self.finding, self.level)
        require(recorded == shown, f"the certificates show {shown}, not {recorded}")
        return self.evidence.verify(whole)

    @property
    def _parts(self) -> tuple[ClaimCertificate, ...]:
        return self.evidence.parts if self.evidence else ()

    @property
    def summaries(self) -> tuple[str, ...]:
        """A line for each certificate that counts."""
        return tuple(c.summary() for c in self._parts) if not self.fault else ()

    @property
    def instances(self) -> tuple[Counterexample | Witness, ...]:
        """Certificates of one instance among the parts and what is beside them, each once."""
        certificates = {
            json.dumps(certificate.to_json()): certificate
            for part in self._parts
            for certificate in part.every()
            if isinstance(certificate, (Counterexample, Witness))
        }
        return tuple(certificates.values())

    @property
    def passed(self) -> bool:
        """Whether there is neither a fault nor a mutant that lives."""
        return not self.fault and not self.survivors

    @property
    def survivors(self) -> tuple[MutantOutcome, ...]:
        """The mutants that were not refuted."""
        return tuple(m for m in self.mutants if not m.killed)

    def to_json(self) -> dict[str, object]:
        """What is recorded of an outcome that passed; of each mutant why it was killed."""
        return {
            "effort": self.effort,
            "finding": self.finding,
            "level": self.level,
            "evidence": self.evidence.to_json() if self.evidence else None,
            "mutants": {mutant.name: mutant.reason for mutant in self.mutants},
        }

    @classmethod
    def from_json(cls, id: str, data: dict[str, Any]) -> Self:
        """The outcome that passed, of which :meth:`to_json` wrote this."""
        mutants = tuple(MutantOutcome(name, True, why) for name, why in data["mutants"].items())
        evidence = Evidence.from_json(data["evidence"])
        return cls(id, data["effort"], data["finding"], data["level"], evidence, mutants)


@values_kept()
def examine(claim: Claim, effort: Effort) -> Outcome:
    """Check a claim and its mutants. Failures are in the outcome; only Ctrl-C raises."""
    begin = time.perf_counter()
    evidence, fault = verified(claim.check, effort)
    if evidence and not fault:
        fault = misread(claim, evidence, effort.name == QUICK.name) or unheld(evidence)
    finding, level = (evidence.finding, evidence.level) if evidence and not fault else (None, None)
    mutants = tuple(mutant_outcomes(claim, effort, finding))
    seconds = time.perf_counter() - begin
    return Outcome(claim.id, effort.name, finding, level, evidence, mutants, fault, seconds)


def mutant_outcomes(
    claim: Claim, effort: Effort, finding: Finding | None
) -> Iterator[MutantOutcome]:
    """Each mutant at the quick effort, and at ``effort`` if it survives that."""
    for name, (_, variant) in claim.mutants.items():
        check = variant if callable(variant) else partial(claim.check, **variant)
        killed, reason = _killed(check, QUICK, finding)
        if not killed and effort.name != QUICK.name:
            killed, reason = _killed(check, effort, finding)
        yield MutantOutcome(name, killed, reason)


def _killed(check: Check, effort: Effort, finding: Finding | None) -> tuple[bool, str]:
    """Whether it is killed, and the reason. An exception is a fault and does not kill it."""
    evidence, fault = verified(check, replace(effort, shrink=False))
    if evidence is None or fault:
        return fault.startswith("rejected: "), fault
    return finding not in (None, evidence.finding), f"finding: {evidence.finding}"
