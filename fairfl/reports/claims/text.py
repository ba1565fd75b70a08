"""One claim in words, and as data, for ``fairfl claims show``."""

import textwrap
from typing import Any

from fairfl.claims.certificates import Counterexample, PropertyRun, Witness
from fairfl.claims.outcome import Outcome
from fairfl.claims.registry import papers, registered
from fairfl.claims.runner import Checked
from fairfl.reports.claims.legend import legend, value
from fairfl.reports.claims.vocabulary import SEVERITY

WIDTH = 100


def as_text(checked: Checked) -> str:
    """A claim in words: source, statement, hypotheses, verdict, evidence and what is wrong."""
    claim, outcome = checked.claim, checked.outcome
    paper = papers()[claim.paper]
    level = f", {checked.settled.levels}" if checked.settled.levels else ""
    parts = [
        f"{claim.id}: {claim.title}",
        f"{paper.title}{f' ({paper.authors})' * bool(paper.authors)}, {claim.number}",
        f"verdict: {checked.status}{level}; scope: {claim.scope}; kind: {claim.kind}",
        _block("as printed", claim.printed),
        _block("as checked", claim.statement),
    ]
    parts += [_block(f"hypothesis {name}", text) for name, text in dict(claim.hypotheses).items()]
    if claim.whose != "printed":
        parts.append(_block("whose statement", claim.whose))
    if claim.severity:
        parts.append(_block("severity", f"{claim.severity}: {SEVERITY[claim.severity]}"))
    for name in ("reading", "erratum", "gap", "notes"):
        if getattr(claim, name):
            parts.append(_block(name, getattr(claim, name)))
    if claim.rests_on:
        parts.append(_block("rests on", ", ".join(claim.rests_on)))
    repaired = registered(claim.paper).get(claim.repaired_id)
    if repaired is not None:
        parts.append(_block(f"repaired ({claim.repaired_id})", repaired.claim.statement))
    if outcome is not None:
        parts += [_block(f"evidence ({outcome.effort})", line) for line in outcome.summaries]
        parts += map(instance, outcome.instances)
        parts += [
            _block(f"mutant {m.name!r}", f"{claim.mutants[m.name][0]}: {m.reason}")
            for m in outcome.mutants
        ]
    return "\n".join(parts)


def violations(outcome: Outcome | None) -> list[str]:
    """Where a statement that was to hold failed: of each run on drawn instances the worst one."""
    parts = outcome.evidence.parts if outcome and outcome.fault and outcome.evidence else ()
    return [
        _block("at", ", ".join(f"{name} = {value(n)}" for name, n in run.worst["instance"].items()))
        for run in parts
        if isinstance(run, PropertyRun) and run.worst and run.worst["margin"] < -run.tolerance
    ]


def as_data(checked: Checked) -> dict[str, Any]:
    """All of a claim as JSON data."""
    claim, outcome = checked.claim, checked.outcome
    return {
        **checked.to_json(),
        **{name: getattr(claim, name) for name in ("line", "printed", "statement")},
        **{name: getattr(claim, name) for name in ("reading", "erratum", "gap", "notes")},
        "title": claim.title,
        "hypotheses": dict(claim.hypotheses),
        "outcome": {"id": claim.id, **outcome.to_json(), "summaries": outcome.summaries}
        if outcome
        else None,
    }


def _block(head: str, text: str) -> str:
    return textwrap.fill(
        f"{head}: {' '.join(text.split())}", WIDTH, subsequent_indent="    ", break_long_words=False
    )


def instance(certificate: Counterexample | Witness) -> str:
    """Of one instance in words: its statement, its numbers and what they come to."""
    key = legend(certificate)
    head = _block(f"{type(certificate).__name__.lower()} of", key.statement)
    numbers = [
        _block(f"    {name}", f"{value}{f' ({meaning})' * bool(meaning)}")
        for name, value, meaning in key.numbers
    ]
    return "\n".join([head, *numbers, _block("    there", key.finding)])
