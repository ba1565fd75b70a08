"""What a reader compared with the paper: words, certificates, and the code that they name.

A claim's row in ``instances.json`` has a digest of all that its author wrote. Numbers and edges of
the row hold the statement where they were looked for; a change of anything else, such as a label, a
strategy or a theorem of Coq, shows in the digest, until a reader has compared it again.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fairfl._support.manifest import sha256
from fairfl.claims import instances
from fairfl.claims.call import ROOT, Call
from fairfl.claims.certificates import (
    Counterexample,
    KernelProof,
    PropertyRun,
    SymbolicZero,
    Witness,
)
from fairfl.claims.certificates.base import ClaimCertificate
from fairfl.claims.claim import Claim
from fairfl.claims.dependencies import written
from fairfl.claims.effort import QUICK
from fairfl.claims.evidence import Evidence

WORDS = (
    "line number title printed statement hypotheses scope size kind whose rests_on reading erratum "
    "severity gap notes"
)
"""The fields of a claim that a reader compares with the paper."""
OUTCOMES = {"worst", "examples", "discarded", "kernel", "otherwise", "parts"}
"""The fields of a certificate that say what came of it, or hold others."""


def misread(claim: Claim, evidence: Evidence, is_quick: bool) -> str:
    """Why a claim's words are not what is checked, "" where they are: a premise that it does not
    name, a hypothesis neither a premise nor ``assumed``; at the quick effort, words, mutants,
    certificates or their code other than those that were compared with the paper when the digest of
    its row was written. A claim of a user needs none.
    """
    parts = [inner for outer in evidence.parts for inner in outer.every()]
    used = frozenset[str]().union(*(part.premises() for part in parts))
    row = instances.rows().get(claim.id, {"assumed": claim.hypotheses.keys() - used})
    if differing := sorted(used ^ (claim.hypotheses.keys() - set(row.get("assumed", ())))):
        return f"premises and hypotheses of {claim.id} differ: {', '.join(differing)}"
    if not is_quick or "text" not in row:
        return ""
    words = [str(getattr(claim, name)) for name in WORDS.split()]
    for name, (change, parameters) in claim.mutants.items():
        words += [name, change, str(parameters) if isinstance(parameters, Mapping) else ""]
        if not isinstance(parameters, Mapping):
            parts += [inner for outer in parameters(QUICK).parts for inner in outer.every()]
    digest = sha256("\0".join([*words, *_read(claim, parts)]).encode())[:12]
    is_read = digest == row["text"]
    return "" if is_read else f"compare {claim.id} with the paper, then write {digest} into its row"


def _read(claim: Claim, parts: list[ClaimCertificate]) -> Iterator[str]:
    """What a reader compares of certificates: their fields, theorems with their definitions, and
    the code and docstrings of statements and strategies, with the meanings of their names.
    """
    calls = list[Call[Any]]()
    for part in parts:
        fields = {name: v for name, v in part.to_json().items() if name not in OUTCOMES}
        yield json.dumps(fields, sort_keys=True)
        if isinstance(part, KernelProof):
            yield part.statement
        elif isinstance(part, SymbolicZero):
            calls.append(part.residuals)
        elif isinstance(part, PropertyRun):
            calls += [part.statement, part.draws]
        elif isinstance(part, (Counterexample, Witness)):
            calls.append(part.statement)
    yield from (call.resolve().__doc__ or "" for call in calls)
    yield written(ROOT + claim.paper, *sorted({call.function for call in calls}))
