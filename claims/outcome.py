"""The outcome of a claim: evidence verified and mutants tried, as JSON."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from fairfl.claims.certificates.base import Level, require
from fairfl.claims.claim import Claim, Effort
from fairfl.claims.evidence import Evidence, verified
from fairfl.claims.mutants import MutantOutcome, mutant_outcomes


@dataclass(frozen=True)
class Outcome:
    """Outcome of one claim's own check, before the claims that it rests on are counted.

    Attributes
    ----------
    id, key : the claim, and the digest of the sources that it was checked with.
    effort : "quick" or "deep".
    finding, level : what its evidence shows and how strongly; None where that was rejected, or the
        check failed.
    evidence : the certificates, see :meth:`Evidence.to_json`; None where there are none.
    summaries : a line for each certificate.
    mutants : one outcome each.
    fault : why there is no finding: the certificate's rejection, or the traceback of an exception.
    seconds : the time of the check, which is not recorded.
    """

    id: str
    key: str
    effort: str
    finding: str | None
    level: Level | None
    evidence: dict[str, Any] | None
    summaries: tuple[str, ...]
    mutants: tuple[MutantOutcome, ...]
    fault: str
    seconds: float = field(default=0.0, compare=False)

    def verify(self, whole: bool = False) -> tuple[str, ...]:
        """Verify the certificates again, see :meth:`Evidence.verify`, and that finding, level and
        summaries agree with them.

        Returns
        -------
        The parts that this machine could not check, a line each.

        Raises
        ------
        Rejected : one of them does not show what it says.
        """
        if self.evidence is None or self.fault:
            require(self.finding is None and self.level is None, "there is no evidence that counts")
            return ()
        evidence = Evidence.from_json(self.evidence)
        recorded = (self.finding, self.level, self.summaries)
        require(
            recorded == _shown(evidence),
            f"the certificates show {_shown(evidence)}, not {recorded}",
        )
        return evidence.verify(whole)

    @property
    def instances(self) -> tuple[dict[str, Any], ...]:
        """The certificates of one instance among the parts and the proofs' alternatives."""
        parts = (self.evidence or {}).get("parts", [])
        certificates = [
            certificate for part in parts for certificate in (part, *part.get("otherwise", ()))
        ]
        return tuple(
            {
                json.dumps(certificate): certificate
                for certificate in certificates
                if "instance" in certificate
            }.values()
        )

    @property
    def passed(self) -> bool:
        """Whether there is neither a fault nor a mutant that lives."""
        return not self.fault and not self.survivors

    @property
    def survivors(self) -> tuple[MutantOutcome, ...]:
        """The mutants that were not refuted."""
        return tuple(m for m in self.mutants if not m.killed)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "seconds"}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        fields = {**data, "summaries": tuple(data["summaries"])}
        fields["mutants"] = tuple(MutantOutcome(**m) for m in data["mutants"])
        return cls(**fields)


def examine(claim: Claim, effort: Effort, key: str) -> Outcome:
    """Check a claim and its mutants. Failures are in the outcome; only Ctrl-C raises."""
    begin = time.perf_counter()
    evidence, fault = verified(claim.check, effort)
    if evidence and not fault:
        fault = _unnamed(claim, evidence)
    finding, level, summaries = _shown(evidence) if evidence and not fault else (None, None, ())
    mutants = tuple(mutant_outcomes(claim, effort, finding))
    return Outcome(
        claim.id,
        key,
        effort.name,
        finding,
        level,
        evidence.to_json() if evidence else None,
        summaries,
        mutants,
        fault,
        time.perf_counter() - begin,
    )


def _shown(evidence: Evidence) -> tuple[str, Level, tuple[str, ...]]:
    return (evidence.finding, evidence.level, tuple(c.summary() for c in evidence.parts))


def _unnamed(claim: Claim, evidence: Evidence) -> str:
    """A fault where a case has a premise that the claim does not name among its hypotheses."""
    used = frozenset[str]().union(*(c.premises() for c in evidence.parts))
    unknown = sorted(used - set(dict(claim.hypotheses)))
    return (
        f"premises not among the hypotheses of {claim.id}: {', '.join(unknown)}" if unknown else ""
    )
