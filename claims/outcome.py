"""The outcome of a claim: evidence verified and mutants tried, as JSON."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from fairfl.claims.certificates.base import Level, require
from fairfl.claims.claim import Claim, Effort
from fairfl.claims.evidence import Evidence, verified
from fairfl.claims.mutants import MutantOutcome, tried


@dataclass(frozen=True)
class Outcome:
    """What came of one claim's own check, before what it rests on is counted.

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
    seconds : it took, here and now: no part of what is kept.
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
        summaries are what they show.

        Returns
        -------
        What could not be looked at on this machine, a line each.

        Raises
        ------
        Rejected : one of them does not show what it says.
        """
        if self.evidence is None or self.fault:
            require(self.finding is None and self.level is None, "there is no evidence that counts")
            return ()
        evidence = Evidence.from_json(self.evidence)
        told = (self.finding, self.level, self.summaries)
        require(told == _shown(evidence), f"the certificates show {_shown(evidence)}, not {told}")
        return evidence.verify(whole)

    @property
    def instances(self) -> tuple[dict[str, Any], ...]:
        """The certificates of one instance among the parts, and beside proofs, as JSON."""
        parts = (self.evidence or {}).get("parts", [])
        every = [one for part in parts for one in (part, *part.get("otherwise", ()))]
        return tuple({json.dumps(one): one for one in every if "instance" in one}.values())

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
        known = {**data, "summaries": tuple(data["summaries"])}
        known["mutants"] = tuple(MutantOutcome(**m) for m in data["mutants"])
        return cls(**known)


def examine(claim: Claim, effort: Effort, key: str) -> Outcome:
    """Check a claim and its mutants. Nothing raises but Ctrl-C: what fails is in the outcome."""
    begin = time.perf_counter()
    evidence, fault = verified(claim.check, effort)
    if evidence and not fault:
        fault = _unnamed(claim, evidence)
    finding, level, summaries = _shown(evidence) if evidence and not fault else (None, None, ())
    mutants = tuple(tried(claim, effort, finding))
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
    """A fault where an instance was held to a premise that the claim does not name among its
    hypotheses.
    """
    used = frozenset[str]().union(*(c.premises() for c in evidence.parts))
    unknown = sorted(used - set(dict(claim.hypotheses)))
    return (
        f"premises not among the hypotheses of {claim.id}: {', '.join(unknown)}" if unknown else ""
    )
