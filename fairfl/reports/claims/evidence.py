"""The evidence of a claim as HTML: a line for each certificate, and what it is of."""

import re
from html import escape

from fairfl.claims.certificates import ClaimCertificate, Counterexample, KernelProof
from fairfl.claims.claim import Claim
from fairfl.claims.outcome import Outcome
from fairfl.reports.claims.legend import legend, subject
from fairfl.reports.claims.math import html

_SENTENCE = re.compile(r"(?<=\.) (?=(?:Definition|Fixpoint|Theorem|Lemma|Inductive|Record)\b)")


def evidence(claim: Claim, outcome: Outcome) -> str:
    """All certificates, and below them the claim's hypotheses and mutants, closed at first."""
    lines = "".join(map(_line, outcome.evidence.parts if outcome.evidence else ()))
    hypotheses = "".join(
        f"<dt>{html(name)}</dt><dd>{html(text)}</dd>"
        for name, text in dict(claim.hypotheses).items()
    )
    mutants = "".join(
        f"<li>{html(name)}: {html(change)}</li>" for name, (change, _) in claim.mutants.items()
    )
    head = (
        "Changed statements, among them the repair, that the same evidence does not refute"
        if outcome.finding == "refuted"
        else "Wrong statements that the same check refutes"
    )
    return (
        f"<ul>{lines}</ul><details><summary>Hypotheses and mutants</summary>"
        f"<dl>{hypotheses}</dl><p>{head}:</p>"
        f"<ul>{mutants}</ul></details>\n"
    )


def _line(certificate: ClaimCertificate) -> str:
    if isinstance(certificate, KernelProof):
        kernel = certificate.kernel
        by = f"by {kernel}" if kernel else "not compiled, no coqc was installed"
        coq = escape(_SENTENCE.sub("\n", certificate.statement))
        witnesses = "".join(map(_line, certificate.otherwise))
        return (
            f"<li>proof ({escape(certificate.file)}, {escape(by)})<pre>{coq}</pre>beside it:"
            f"<ul>{witnesses}</ul></li>"
        )
    return f"<li>{html(certificate.summary())}{_meaning(certificate)}</li>"


def _meaning(certificate: ClaimCertificate) -> str:
    if not isinstance(certificate, Counterexample):
        text = subject(certificate)
        return f"<br><em>of:</em> {html(text)}" if text else ""
    key = legend(certificate)
    numbers = "".join(
        f"<li><code>{escape(name)} = {escape(value)}</code>{meaning and ': '}{html(meaning)}</li>"
        for name, value, meaning in key.numbers
    )
    return (
        f"<br><em>to:</em> {html(key.statement)}<ul>{numbers}</ul>"
        f"<em>There</em> {html(key.finding)}."
    )
