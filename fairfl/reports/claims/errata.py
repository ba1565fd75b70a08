"""The errata of a paper, each once, though several statements may have it; also as Markdown."""

from collections import Counter
from collections.abc import Iterable, Sequence

from fairfl._support.markdown_table import markdown_table
from fairfl.claims.claim import Claim
from fairfl.claims.ids import REPAIRED
from fairfl.claims.registry import registered
from fairfl.claims.runner import Checked
from fairfl.claims.words import SEVERITIES, VERDICTS, WHOSE

HEADS = {
    "printed": "As printed",
    "implied": "Implied by the text",
    "reading": "One reading of several",
    "ours": "Our own statements",
}
"""Headings of the errata, by whose statement it is."""


def errata(claims: Iterable[Claim]) -> dict[str, list[list[Claim]]]:
    """By whose statements they are, the printed ones first, which alone are the paper's errors: of
    each erratum the claims that have it, the most severe first, then in the order of the paper.
    """

    def rank(claim: Claim) -> tuple[int, int, int]:
        return WHOSE.index(claim.whose), SEVERITIES.index(str(claim.severity)), claim.line

    by_author: dict[str, dict[str, list[Claim]]] = {whose: {} for whose in WHOSE}
    for claim in sorted((c for c in claims if c.severity), key=rank):
        existing = next((groups for groups in by_author.values() if claim.erratum in groups), None)
        (existing or by_author[claim.whose]).setdefault(claim.erratum, []).append(claim)
    return {whose: list(groups.values()) for whose, groups in by_author.items() if groups}


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


def _line(text: str) -> str:
    return " ".join(text.split())
