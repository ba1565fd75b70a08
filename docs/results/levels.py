"""Write docs/results/levels.md: the level of every claim before and after the evidence was made
stronger, from levels_before.csv and the committed record.

    python docs/results/levels.py

levels_before.csv is the record of commit 6cf76a5, as ``fairfl claims list`` gave it there.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from fairfl._support.whole_file import write_whole
from fairfl.claims.certificates.base import LEVELS
from fairfl.claims.claim import REPAIRED
from fairfl.claims.runner import Checked, recorded

HERE = Path(__file__).resolve().parent
HEAD = """# Levels of the claims, before and after

Written by `python docs/results/levels.py` from the committed record and from
[levels_before.csv](levels_before.csv), the record of commit 6cf76a5. A level says how well a
verdict is supported, the strongest first: {levels}. A claim that holds repaired counts by the
weaker one of its refutation and its repair. {same} claims have the level that they had, {new} are
new.
"""


def main() -> None:
    """Write the page."""
    with (HERE / "levels_before.csv").open(encoding="utf-8", newline="") as file:
        before = {row["id"]: row for row in csv.DictReader(file)}
    after = {c.claim.id: c for c in recorded()}
    unknown = [id for id, c in after.items() if c.settled.level is None]
    if unknown:
        raise SystemExit(f"not on record, so record them first: {', '.join(unknown)}")
    both = [(before[id], c) for id, c in after.items() if id in before]
    moved = [(b, c) for b, c in both if b["level"] != c.settled.level]
    raised = [(b, c) for b, c in moved if rank(str(c.settled.level)) < rank(b["level"])]
    lowered = [pair for pair in moved if pair not in raised]
    text = HEAD.format(
        levels=", ".join(LEVELS), same=len(both) - len(moved), new=len(after) - len(both)
    )
    text += "\n" + counts(before, after)
    text += f"\n## Raised ({len(raised)})\n\n" + table(raised)
    text += (
        f"\n## Lowered ({len(lowered)})\n\nHere a part that was only tested, or computed in "
        "floating point, stood under a level that it does not have.\n\n" + table(lowered)
    )
    write_whole(HERE / "levels.md", text)


def rank(level: str) -> int:
    """0 for the strongest; "numeric" and all that is unknown last."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)  # type: ignore[arg-type]


def counts(before: dict[str, dict[str, str]], after: dict[str, Checked]) -> str:
    """How many claims had and have each level."""
    then = Counter(row["level"] for row in before.values())
    now = Counter(c.settled.level for id, c in after.items() if id in before)
    new = Counter(c.settled.level for id, c in after.items() if id not in before)
    rows = [f"| {level} | {then[level]} | {now[level]} | {new[level]} |" for level in LEVELS]
    head = "| level | before | after, the same claims | new claims |\n| --- | --- | --- | --- |\n"
    return head + "\n".join(rows) + "\n"


def table(pairs: list[tuple[dict[str, str], Checked]]) -> str:
    """A row a claim."""
    rows = []
    for old, c in sorted(pairs, key=lambda pair: pair[0]["id"]):
        title = " ".join(c.claim.title.split()).replace("|", "\\|")
        mark = " (repaired form)" if c.claim.id.endswith(REPAIRED) else ""
        now = f"{c.status}, {c.settled.levels}"
        row = f"| `{c.claim.id}` | {title}{mark} | {old['verdict']}, {old['level']} | {now} |"
        rows.append(row)
    return (
        "| id | statement | before | after |\n| --- | --- | --- | --- |\n" + "\n".join(rows) + "\n"
    )


if __name__ == "__main__":
    main()
