"""The report on the claims as Markdown, mathematics in LaTeX between dollars as it is."""

from collections import Counter
from collections.abc import Sequence

from fairfl._support.markdown_table import markdown_table
from fairfl._support.version import __version__
from fairfl.claims.ids import REPAIRED
from fairfl.claims.registry import papers, registered
from fairfl.claims.runner import Checked
from fairfl.claims.words import VERDICTS, WHOSE
from fairfl.reports.claims.errata import errata
from fairfl.reports.claims.vocabulary import in_short

HEADS = {
    "printed": "As printed",
    "implied": "Implied by the text",
    "reading": "One reading of several",
    "ours": "Our own statements",
}
"""Headings of the errata, by whose statement it is."""


def markdown(checked: Sequence[Checked]) -> str:
    """The whole report: per paper its errata, then a table of all claims."""
    parts = [f"# Statements of the papers, checked by fairfl {__version__}\n", in_short()]
    for key, paper in papers().items():
        of_paper = [c for c in checked if c.claim.paper == key]
        if of_paper:
            text = f" The text read: {paper.text}." if paper.text else ""
            listed = errata_list(of_paper)
            section = f"### Errata\n\n{listed}\n" if listed else ""
            parts += [f"## {paper.title}\n\n{paper.authors}.{text}\n", section, _table(of_paper)]
    return "\n".join(part for part in parts if part)


def errata_list(checked: Sequence[Checked]) -> str:
    """The errata of a paper by whose they are, the most severe first, and gaps of its proofs."""
    rows, status = [], {c.claim.id: c.status for c in checked}
    for whose, groups in errata(c.claim for c in checked).items():
        rows.append(f"\n**{HEADS[whose]}**\n")
        for group in groups:
            places = ", ".join(f"**{c.number}** (`{c.id}`, {status[c.id]})" for c in group)
            rows.append(f"- *{group[0].severity}*, {places}: {_line(group[0].erratum)}")
            repaired = (registered().get(c.repaired_id) for c in group)
            forms = dict.fromkeys(_line(entry.claim.statement) for entry in repaired if entry)
            rows += [f"  *Repaired:* {form}" for form in forms]
    gaps = [c.claim for c in checked if c.claim.gap]
    rows += ["\n**Gaps in proofs of statements that hold**\n"] * bool(gaps)
    rows += [f"- **{c.number}** (`{c.id}`): {_line(c.gap)}" for c in gaps]
    return "\n".join(rows)


def verdicts(checked: Sequence[Checked]) -> str:
    """How many statements of each origin there are by verdict, as a table."""
    count = Counter(
        (c.claim.whose, c.settled.verdict) for c in checked if not c.claim.id.endswith(REPAIRED)
    )
    rows = [[whose, *(str(count[whose, verdict]) for verdict in VERDICTS)] for whose in WHOSE]
    return markdown_table([["statements", *VERDICTS], *rows])


def _table(checked: Sequence[Checked]) -> str:
    rows = [("id", "statement", "verdict", "level", "scope")]
    for c in checked:
        title, scope = _line(c.claim.title), _line(c.claim.scope)
        rows.append((f"`{c.claim.id}`", title, c.status, c.settled.levels, scope))
    return f"### Statements\n\n{markdown_table(rows)}\n"


def _line(text: str) -> str:
    return " ".join(text.split())
