"""Checks claims one at a time, and compares the verdicts with the expected ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairfl._support.threads import one_thread
from fairfl.claims import record
from fairfl.claims.claim import Claim
from fairfl.claims.dependencies import PROOFS, key
from fairfl.claims.effort import DEEP, EFFORTS
from fairfl.claims.ids import REPAIRED, paper_of
from fairfl.claims.outcome import Outcome, examine
from fairfl.claims.record import Record
from fairfl.claims.registry import Entry, registered
from fairfl.claims.verdicts import Settled, settle
from fairfl.claims.words import SEVERITIES, WHOSE, Finding, Level

HEADS = (
    ("Theorem", "Lemma", "Proposition", "Corollary"),
    ("Eq", "(", "Algorithm", "Definition", "Assumption"),
)
"""Beginnings of a claim's number by importance. Figures, tables, remarks and sentences follow."""


@dataclass(frozen=True)
class Checked:
    """A claim, its verdict, and the outcome of its own check: None where it has not been checked
    with the present sources, ``stale`` where the record has one of others, or an altered one.
    """

    claim: Claim
    settled: Settled
    outcome: Outcome | None
    stale: bool = False

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the check failed: a fault, an unexpected verdict, a surviving mutant; or nothing."""
        if self.outcome is None:
            return ("not checked",)
        problems = [self.outcome.fault.strip()] if self.outcome.fault else []
        if not problems and self.settled.verdict != self.claim.expected:
            reason = f" ({self.settled.reason})" if self.settled.reason else ""
            verdict, expected = self.settled.verdict, self.claim.expected
            problems.append(f"the verdict is {verdict}{reason}, expected is {expected}")
        survivors = self.outcome.survivors
        problems += [f"mutant {m.name!r} survives: {m.reason.strip()}" for m in survivors]
        return tuple(problems)

    @property
    def status(self) -> str:
        """The verdict, or why there is none."""
        if self.settled.verdict is not None:
            return self.settled.verdict
        if self.outcome is None:
            return f"not checked{' since its source or record changed' * self.stale}"
        return "failed" if self.outcome.fault else "waits for what it rests on"

    def to_json(self) -> dict[str, object]:
        """The claim's row of ``fairfl claims list --json``."""
        return {
            "id": self.claim.id,
            "verdict": self.settled.verdict,
            "level": self.settled.level,
            "refutation": self.settled.refutation,
            "repair": self.settled.repair,
            "levels": self.settled.levels,
            "scope": self.claim.scope,
            "statement": self.claim.title,
            "whose": self.claim.whose,
            "severity": self.claim.severity,
            "status": self.status,
            "expected": self.claim.expected,
            "number": self.claim.number,
            "kind": self.claim.kind,
            "effort": self.outcome.effort if self.outcome else None,
            "rests_on": list(self.claim.rests_on),
            "evidence": list(self.outcome.summaries) if self.outcome else [],
        }


def proofs(entries: Iterable[Entry]) -> list[str]:
    """The files of ``claims/proofs`` that the modules of claims name, the largest first."""
    sources = [entry.source.read_text("utf-8") for entry in {e.module: e for e in entries}.values()]
    files = sorted(PROOFS.iterdir(), key=lambda file: -file.stat().st_size)
    return [file.name for file in files if any(f'"{file.name}"' in text for text in sources)]


@one_thread()
def examine_id(id: str, effort: str, accepted: frozenset[str] = frozenset()) -> Outcome:
    """Check one claim by id; ``accepted``: SHA-256 of proofs that need no compiling."""
    from fairfl.claims.certificates.kernel_proof import ACCEPTED

    ACCEPTED.update(accepted)
    return examine(registered(paper_of(id))[id].claim, EFFORTS[effort])


def on_record(store: Record, entry: Entry, effort: str = "quick") -> Outcome | None:
    """The outcome of a claim in ``store``, of the present sources and this or a deeper effort."""
    row = store.current(entry.claim.id, key(entry.module))
    if row is None or row["effort"] not in (effort, DEEP.name):
        return None
    return Outcome.from_json(entry.claim.id, row)


def put_on_record(store: Record, entry: Entry, outcome: Outcome) -> None:
    """Write an outcome that passed."""
    if outcome.passed:
        store.write(outcome.id, key(entry.module), outcome.to_json())


def verified(outcome: Outcome, whole: bool = False) -> tuple[str, str, tuple[str, ...]]:
    """A claim's id, why the certificates of its outcome do not verify ("" where they do), and what
    could not be looked at.

    Proofs are compiled again only if ``whole``: a current record is of the same files.
    """
    from fairfl.claims.certificates.kernel_proof import COMPILING

    before = COMPILING.set(whole)
    try:
        return outcome.id, "", outcome.verify(whole)
    except Exception as error:  # altered data may raise any exception
        return outcome.id, f"its certificates do not verify: {error}", ()
    finally:
        COMPILING.reset(before)


def recorded() -> list[Checked]:
    """Every claim with its recorded outcome."""
    return judge(registered().values())


def needed(entries: Iterable[Entry]) -> list[Entry]:
    """``entries``, and those that they rest on or are repaired by, if they are not on record."""
    chosen, committed = {entry.claim.id: entry for entry in entries}, Record(record.COMMITTED)
    for entry in _supported(chosen.values()):
        if entry.claim.id not in chosen and not on_record(committed, entry):
            chosen[entry.claim.id] = entry
    return list(chosen.values())


def _supported(entries: Iterable[Entry]) -> list[Entry]:
    """``entries``, and all that they rest on or are repaired by."""
    reached, todo = dict[str, Entry](), list(entries)
    registry = registered(*sorted({entry.claim.paper for entry in todo}))
    while todo:
        claim = todo.pop().claim
        if claim.id not in reached:
            reached[claim.id] = registry[claim.id]
            support = (*claim.rests_on, claim.repaired_id)
            todo += [registry[id] for id in support if id in registry]
    return list(reached.values())


def judge(entries: Iterable[Entry], outcomes: Mapping[str, Outcome] | None = None) -> list[Checked]:
    """The verdicts of ``entries``, the important ones first, a repaired form right after its claim;
    outcomes of claims that they rest on are taken from the record if not in ``outcomes``.
    """
    ordered, committed = list(entries), Record(record.COMMITTED)
    registry = registered(*sorted({entry.claim.paper for entry in ordered}))
    claims = {id: entry.claim for id, entry in registry.items()}
    ordered.sort(key=lambda entry: _importance(claims[entry.claim.id.removesuffix(REPAIRED)]))
    available: dict[str, Outcome | None] = dict(outcomes or {})
    for entry in _supported(ordered):
        if entry.claim.id not in available:
            available[entry.claim.id] = on_record(committed, entry)
    findings: dict[str, tuple[Finding, Level] | None] = {
        id: (o.finding, o.level) if o and o.finding and o.level else None
        for id, o in available.items()
    }
    settled = settle(list(claims.values()), findings)
    return [
        Checked(
            claim,
            settled[claim.id],
            available[claim.id],
            stale=available[claim.id] is None and claim.id in committed.rows,
        )
        for claim in (entry.claim for entry in ordered)
    ]


def _importance(claim: Claim) -> tuple[int, int, int, str, int, str]:
    """Sorts by kind of statement, errata by severity, printed ones first, and the paper's order."""
    kind = next((k for k, heads in enumerate(HEADS) if claim.number.startswith(heads)), len(HEADS))
    severity = (*SEVERITIES, None).index(claim.severity)
    return kind, severity, WHOSE.index(claim.whose), claim.paper, claim.line, claim.id
