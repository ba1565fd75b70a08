"""A model card (Mitchell et al., 2019) of the rules of an answer, as Markdown that is soon read."""

import json

from fairfl._support.json_file import SEAL
from fairfl._support.markdown_table import markdown_table
from fairfl._support.version import __version__
from fairfl.reports.comparison import ENDS, Comparison
from fairfl.reports.comparison_words import number, shower, span
from fairfl.reports.pages.frontier_page import about
from fairfl.reports.people import Read
from fairfl.theory.populations.classifiers import called

LIMITS = (
    "Ranges are for all people such as these; for others, and for another score, nothing is said. "
    "Labels are taken as they are: a rule does not say why they differ between groups."
)


def card(comparison: Comparison, read: Read, title: str) -> str:
    """What was asked, to whom the rules were fitted, their numbers, guarantee, limits, digests."""
    show = shower(comparison.question)
    k = comparison.worded[0] if comparison.worded else None
    where = "no constraint" if k is None else f"a disparity of {comparison.disparities[k]:g}"
    value = comparison.question.value
    rows = [["rule", "accepts", f"{value} (95 %)", "disparity (held out)", "SHA-256"]]
    for scheme, rule in comparison.classifiers.items():
        row = list(comparison.reaches).index(scheme)
        reached = k is None or comparison.reaches[scheme].values_at[k] is not None
        place, column = (-1, 2) if k is None else (k + 1, len(ENDS) + k) if reached else (0, 1)
        cells = ["see below"] * 2
        if scheme not in comparison.guaranteed:
            cells[0] = show(comparison.number(scheme, column))
            if ends := comparison.between(scheme, column):
                cells[0] += f" ({span(ends, show)})"
            cells[1] = number(comparison.rules[scheme].solution.disparity)
            if comparison.spread is not None and comparison.judged:
                cells[1] += f" ({number(comparison.spread.held_out[row, place, 1])})"
        accepts = "; ".join(f"{called(name)}: {rule.accepted(name)}" for name in rule.groups)
        digest = json.loads(rule.to_json())[SEAL]
        rows.append([f"rule_{scheme}.json", accepts, *cells, f"`{digest}`"])
    lines = [markdown_table(rows)]
    if read.model is not None:
        digest = json.loads(read.model().to_json())[SEAL]
        lines.append(f"\nThe score of features: score_model.json, SHA-256 `{digest}`.")
    parts = {
        f"Model card: {title}": [comparison.question.title(len(comparison.clients))],
        "Fitted to": [about(comparison), *read.notes, f"By fairfl {__version__}."],
        f"Rules at {where}, or the smallest above": ["\n".join(lines)],
        "Guarantee": ["None."] * (not comparison.guaranteed) + [*comparison.promises],
        "Limits": [LIMITS],
    }
    out = [line for head, text in parts.items() for line in (f"## {head}", *text)]
    return "\n\n".join(out)[1:] + "\n"
