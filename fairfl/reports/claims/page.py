"""The report on the claims: one HTML page that loads nothing, with mathematics, filters, evidence
and errata, and the same as JSON.
"""

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import starmap
from pathlib import Path

from fairfl._support.manifest import SUFFIX, write_piece
from fairfl.claims.certificates import ClaimCertificate, Counterexample, KernelProof
from fairfl.claims.claim import Claim
from fairfl.claims.ids import REPAIRED
from fairfl.claims.outcome import Outcome
from fairfl.claims.registry import papers, registered
from fairfl.claims.runner import Checked
from fairfl.claims.words import LEVELS, SEVERITIES, VERDICTS
from fairfl.reports.claims.errata import errata
from fairfl.reports.claims.legend import legend, subject
from fairfl.reports.claims.math import html
from fairfl.reports.claims.text import as_data
from fairfl.reports.claims.vocabulary import SEVERITY, WHOSE, tag, vocabulary
from fairfl.reports.pages.html_page import html_page

NAMES: tuple[str, ...] = ("claims.html", "claims.json")
_SENTENCE = re.compile(r"(?<=\.) (?=(?:Definition|Fixpoint|Theorem|Lemma|Inductive|Record)\b)")


def write_report(out: Path, checked: Sequence[Checked]) -> tuple[Path, ...]:
    """Write page and JSON into ``out``, made if missing, and return their paths."""
    data = json.dumps([as_data(c) for c in checked], ensure_ascii=False, indent=1) + "\n"
    texts = dict(zip(NAMES, (page(checked), data), strict=True))
    return tuple(write_piece(out / f"claims{SUFFIX}", texts))


def page(checked: Sequence[Checked]) -> str:
    """The whole page."""
    keys = _keys(checked)
    choices = {"paper": keys, "verdict": VERDICTS, "level": LEVELS}
    return html_page(
        Path(__file__).with_suffix(".html"),
        summary=summary(checked),
        severe=_severe(checked),
        choices="".join(starmap(_choice, choices.items())),
        claims="".join(_paper(key, [c for c in checked if c.claim.paper == key]) for key in keys),
        errata="".join(_errata(key, checked) for key in keys),
        **vocabulary(),
    )


def _keys(checked: Iterable[Checked]) -> list[str]:
    used = {c.claim.paper for c in checked}
    return [key for key in papers() if key in used]


def summary(checked: Sequence[Checked], page: str = "") -> str:
    """A table of verdicts by paper, whose links lead into the file ``page``."""
    original = [c for c in checked if not c.claim.id.endswith(REPAIRED)]
    verdicts = [v for v in (*VERDICTS, None) if any(c.settled.verdict == v for c in original)]
    head = "".join(f"<th>{verdict or 'not checked'}</th>" for verdict in verdicts)
    rows = []
    for key in sorted(_keys(checked), key=lambda key: not papers()[key].printed):
        of_paper = [c for c in original if c.claim.paper == key]
        cells = "".join(
            f"<td>{sum(c.settled.verdict == v for c in of_paper)}</td>" for v in verdicts
        )
        error_count = len(errata(c.claim for c in of_paper).get("printed", ()))
        link = f'<a href="{page}#{key}-errata">{error_count}</a>' if error_count else ""
        rows.append(
            f'<tr><td><a href="{page}#{key}">{escape(papers()[key].title)}</a></td>{cells}'
            f"<td>{link}</td></tr>"
        )
    return (
        '<div class="wide"><table>\n<tr><th>statements, without repaired forms</th>'
        f"{head}<th>errors</th></tr>\n" + "\n".join(rows) + "</table></div>\n"
    )


def _severe(checked: Sequence[Checked]) -> str:
    """The printed errors that are of substance, a line each, with the statements that have it."""
    groups = errata(c.claim for c in checked).get("printed", ())
    items = []
    for group in (group for group in groups if group[0].severity == SEVERITIES[0]):
        links = (f'<a href="#{escape(claim.id)}">{escape(claim.id)}</a>' for claim in group)
        items.append(f"<li>{', '.join(links)}: {html(group[0].title)}</li>")
    return f"<p>False as printed, theorems first:</p>\n<ol>{''.join(items)}</ol>\n" if items else ""


def _choice(name: str, values: Iterable[str]) -> str:
    options = "".join(f"<option>{escape(value)}</option>" for value in values)
    all_of_them = '<option value="">all</option>'
    return f'<label>{name} <select name="{name}">{all_of_them}{options}</select></label>'


def _paper(key: str, checked: Sequence[Checked]) -> str:
    paper = papers()[key]
    claims = "".join(map(_claim, checked))
    return (
        '<section class="paper" '
        f'id="{key}"><h2>{escape(paper.title)}</h2>\n<p>{escape(paper.authors)}</p>\n'
        f"{claims}</section>\n"
    )


def _claim(checked: Checked) -> str:
    claim, outcome = checked.claim, checked.outcome
    id = escape(claim.id)
    words = escape(
        " ".join([claim.id, claim.title, claim.number, claim.erratum, claim.notes]).lower()
    )
    rows = [
        f'<section class="claim" id="{id}" data-paper="{claim.paper}" '
        f'data-verdict="{checked.settled.verdict or ""}" '
        f'data-level="{checked.settled.level or ""}" '
        f'data-text="{words}">\n<h3>{html(claim.title)}</h3>\n'
        f"<p>{tag(checked.status, checked.settled.verdict)} "
        f"{escape(checked.settled.levels)} · "
        f'<a href="#{id}">{id}</a> · {escape(claim.number)} · scope: {html(claim.scope)}</p>\n'
    ]
    rows += [_row("Printed", claim.printed), _row("Checked", claim.statement)]
    if claim.whose != "printed":
        rows.append(_row("Whose", WHOSE[claim.whose]))
    if claim.severity:
        rows.append(_row("Severity", f"{claim.severity}: {SEVERITY[claim.severity]}"))
    rows += [
        _row(name.capitalize(), getattr(claim, name))
        for name in ("erratum", "gap", "reading", "notes")
    ]
    if claim.repaired_id in registered():
        link = f'<a href="#{escape(claim.repaired_id)}">{escape(claim.repaired_id)}</a>'
        repaired = html(registered()[claim.repaired_id].claim.statement)
        rows.append(f'<div class="math"><b>Repaired</b> ({link}): {repaired}</div>\n')
    if claim.rests_on:
        links = ", ".join(f'<a href="#{escape(id)}">{escape(id)}</a>' for id in claim.rests_on)
        rows.append(f"<p><b>Rests on:</b> {links}</p>\n")
    if outcome is not None:
        rows.append(_evidence(claim, outcome))
    return "".join(rows) + "</section>\n"


def _evidence(claim: Claim, outcome: Outcome) -> str:
    """All certificates, and below them the claim's hypotheses and mutants, closed at first."""
    lines = "".join(map(_certificate, outcome.evidence.parts if outcome.evidence else ()))
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


def _certificate(certificate: ClaimCertificate) -> str:
    if isinstance(certificate, KernelProof):
        kernel = certificate.kernel
        by = f"by {kernel}" if kernel else "not compiled, no coqc was installed"
        coq = escape(_SENTENCE.sub("\n", certificate.statement))
        witnesses = "".join(map(_certificate, certificate.otherwise))
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


def _errata(key: str, checked: Sequence[Checked]) -> str:
    """What the authors of a paper should change, by severity; then gaps in its proofs."""
    paper, by_author = papers()[key], errata(c.claim for c in checked if c.claim.paper == key)
    parts = []
    for whose, groups in by_author.items():
        for severity, meaning in SEVERITY.items():
            items = [_erratum(group) for group in groups if group[0].severity == severity]
            if items:
                author = "" if whose == "printed" else f", {WHOSE[whose]}"
                head = f"<h4>{severity.capitalize()}{author}: {meaning} ({len(items)})</h4>"
                parts.append(f"{head}\n<ol>{''.join(items)}</ol>\n")
    gaps = [_gap(c.claim) for c in checked if c.claim.paper == key and c.claim.gap]
    if gaps:
        head = f"<h4>Gaps in proofs of statements that are true ({len(gaps)})</h4>"
        parts.append(f"{head}\n<ol>{''.join(gaps)}</ol>\n")
    text = f"<p>The text read: {html(paper.text)}.</p>\n" if paper.text else ""
    head = f'<h3 id="{key}-errata">{escape(paper.title)}</h3>'
    return f"{head}\n{text}{''.join(parts)}" if parts else ""


def _erratum(claims: Sequence[Claim]) -> str:
    """One erratum, which may be that of several statements; with every repaired form in full."""
    entries = registered()
    places = ", ".join(f'<a href="#{escape(c.id)}">{escape(c.number)}</a>' for c in claims)
    repaired = [entries[c.repaired_id].claim for c in claims if c.repaired_id in entries]
    forms = "".join(
        f'<br><em>Repaired</em> (<a href="#{escape(c.id)}">{escape(c.id)}</a>): {html(statement)}'
        for statement, c in {c.statement: c for c in repaired}.items()
    )
    stated = "".join(f"<br><em>Statement:</em> {html(c.title)}" for c in claims)
    erratum = f"<br><em>Erratum:</em> {html(claims[0].erratum)}"
    return f"<li>{places}{stated}{erratum}{forms}</li>\n"


def _gap(claim: Claim) -> str:
    link = f'<a href="#{escape(claim.id)}">{escape(claim.number)}</a>'
    return f"<li>{link}: {html(claim.gap)}</li>\n"


def _row(head: str, text: str) -> str:
    return f'<div class="math"><b>{head}:</b> {html(text)}</div>\n' if text else ""
