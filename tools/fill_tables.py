"""Fill a page's tables from the runs' table.csv, so that no number is pasted by hand.

    python tools/fill_tables.py docs/group_fairness.md --runs DIR

Between ``<!-- fill NAME: MEASURE, ... -->`` and ``<!-- /fill -->`` of the page comes the table of DIR/NAME/table.csv,
as ``fairfl simulate NAME --out DIR`` writes it: a row a data set and objective, cells "ours ± sd [published ± sd]",
with a star where the means are more than twice the larger spread apart. ``NAME@DATA`` takes one data set. With
``--check`` nothing is written, and the exit code is 1 if the page would change.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from fairfl._support.whole_file import write_whole
from fairfl.studies.published import DIGITS

BLOCK = re.compile(r"(<!-- fill ([^:\n]+): ([^\n]+?) -->\n).*?(<!-- /fill -->)", re.DOTALL)
FAR = 2.0
"""Spreads."""


def fill(page: str, runs: Path) -> str:
    """The page with its blocks filled. Errors: FileNotFoundError for a run that is not there, ValueError for a measure
    that its table does not have.
    """
    return BLOCK.sub(lambda found: found[1] + table(found[2].strip(), found[3], runs) + found[4], page)


def table(name: str, measures: str, runs: Path) -> str:
    """One block's Markdown, with a line end."""
    experiment, _, dataset = name.partition("@")
    found = pd.read_csv(runs / experiment / "table.csv")
    wanted = [measure.strip() for measure in measures.split(",")]
    missing = [measure for measure in wanted if measure not in set(found["measure"])]
    if missing:
        raise ValueError(f"{name} must have measured {missing[0]!r}, its table has {sorted(set(found['measure']))}")
    if dataset:
        found = found[found["dataset"] == dataset]
        if not len(found):
            raise ValueError(f"{experiment} must have data {dataset!r}, its table has none of it")
    records: list[dict[str, Any]] = [dict(row) for _, row in found.iterrows()]
    lines = [[*(() if dataset else ("data",)), "objective", *wanted]]
    for keys in dict.fromkeys((row["dataset"], row["objective"]) for row in records):
        mine = [row for row in records if (row["dataset"], row["objective"]) == keys]
        cells = ["".join(cell(row, measure) for row in mine if row["measure"] == measure) for measure in wanted]
        lines.append([*keys[bool(dataset) :], *cells])
    rows = ["| " + " | ".join(text.replace("|", r"\|") for text in line) + " |" for line in lines]
    return "\n".join([rows[0], "| " + " | ".join("---" for _ in lines[0]) + " |", *rows[1:]]) + "\n"


def cell(row: dict[str, Any], measure: str) -> str:
    """Ours, the published in brackets, and a star where they are far apart."""
    digits = DIGITS.get(measure, 1)
    text = number(row["mean"], row["sd"], digits)
    if not pd.isna(row["published"]):
        text += f" [{number(row['published'], row['published_sd'], digits)}]"
    return text + ("*" if row["apart"] > FAR else "")


def number(mean: float, sd: float, digits: int) -> str:
    """``mean ± sd``; no spread where there is none."""
    return f"{mean:.{digits}f}" + ("" if pd.isna(sd) else f" ± {sd:.{digits}f}")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--runs", type=Path, required=True, help="what --out of fairfl simulate named")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if the page would change")
    chosen = parser.parse_args()
    before = chosen.page.read_text(encoding="utf-8")
    after = fill(before, chosen.runs)
    if chosen.check:
        return int(before != after)
    if before != after:
        write_whole(chosen.page, after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
