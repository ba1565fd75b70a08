"""Fill the tables of docs/results from the CSV beside each page, so that no number is pasted by
hand.

    python docs/results/fill_tables.py               # every page with a block, from its own CSV
    python docs/results/fill_tables.py --runs DIR    # first take what was measured by
                                                     # ``fairfl simulate NAME --out DIR``
    python docs/results/fill_tables.py --check       # write nothing; 1 if a page would change

Between ``<!-- fill NAME: MEASURE, ... -->`` and ``<!-- /fill -->`` of PAGE.md comes the table of
experiment NAME in PAGE.csv: a row a data set and objective, cells "ours ± sd [published ± sd]",
with a star where the means are more than twice the larger spread apart. ``NAME@DATA`` takes one
data set. The CSV holds the numbers as they are shown.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from pathlib import Path

from fairfl._support.whole_file import write_whole
from fairfl.studies.beside_published import DIGITS

RESULTS = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- fill ([^:\n]+): ([^\n]+?) -->\n).*?(<!-- /fill -->)", re.DOTALL)
COLUMNS = [
    "experiment",
    "dataset",
    "objective",
    "measure",
    "mean",
    "sd",
    "published",
    "published_sd",
    "far",
]
FAR = 2.0
"""Spreads."""

Row = dict[str, str]


def fill(page: str, rows: list[Row]) -> str:
    """The page with its blocks filled. Errors: ValueError for an experiment, a data set or a
    measure without rows.
    """
    return BLOCK.sub(
        lambda found: found[1] + table(found[2].strip(), found[3], rows) + found[4], page
    )


def table(name: str, measures: str, rows: list[Row]) -> str:
    """One block's Markdown, with a line end."""
    experiment, _, dataset = name.partition("@")
    mine = [
        row for row in rows if row["experiment"] == experiment and dataset in ("", row["dataset"])
    ]
    wanted = [measure.strip() for measure in measures.split(",")]
    known = sorted({row["measure"] for row in mine})
    missing = [measure for measure in wanted if measure not in known]
    if missing:
        raise ValueError(f"{name} must have measured {missing[0]!r}, its rows have {known}")
    lines = [[*(() if dataset else ("data",)), "objective", *wanted]]
    for keys in dict.fromkeys((row["dataset"], row["objective"]) for row in mine):
        here = {
            row["measure"]: cell(row) for row in mine if (row["dataset"], row["objective"]) == keys
        }
        lines.append([*keys[bool(dataset) :], *(here.get(measure, "") for measure in wanted)])
    text = ["| " + " | ".join(each.replace("|", r"\|") for each in line) + " |" for line in lines]
    return "\n".join([text[0], "| " + " | ".join("---" for _ in lines[0]) + " |", *text[1:]]) + "\n"


def cell(row: Row) -> str:
    """Ours, the published in brackets, and a star where they are far apart."""
    text = number(row["mean"], row["sd"])
    return (
        text
        + (f" [{number(row['published'], row['published_sd'])}]" if row["published"] else "")
        + row["far"]
    )


def number(mean: str, sd: str) -> str:
    """``mean ± sd``; no spread where there is none."""
    return f"{mean} ± {sd}" if sd else mean


def taken(rows: list[Row], experiments: list[str], runs: Path) -> list[Row]:
    """The rows, those of every experiment that was run replaced by what its table.csv has."""
    for experiment in experiments:
        path = runs / experiment / "table.csv"
        if path.is_file():
            new = [shown(experiment, row) for row in read(path)]
            at = next(
                (k for k, row in enumerate(rows) if row["experiment"] == experiment), len(rows)
            )
            others = [row for row in rows if row["experiment"] != experiment]
            rows = [*others[:at], *new, *others[at:]]
    return rows


def shown(experiment: str, row: Row) -> Row:
    """A row of table.csv as the CSV of a page has it: rounded, a star in place of the distance."""
    digits = DIGITS.get(row["measure"], 1)
    parts = {
        k: f"{float(row[k]):.{digits}f}" if row[k] else ""
        for k in ("mean", "sd", "published", "published_sd")
    }
    far = "*" if row["apart"] and float(row["apart"]) > FAR else ""
    return {
        "experiment": experiment,
        **{k: row[k] for k in ("dataset", "objective", "measure")},
        **parts,
        "far": far,
    }


def read(path: Path) -> list[Row]:
    """A CSV's rows."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the pages")
    parser.add_argument("--runs", type=Path, help="what --out of fairfl simulate named")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; 1 if a page would change"
    )
    chosen, changed = parser.parse_args(), False
    for page in sorted(chosen.results.glob("*.md")):
        before = page.read_text(encoding="utf-8")
        if not BLOCK.search(before):  # written by another command
            continue
        rows = read(page.with_suffix(".csv"))
        if chosen.runs is not None:
            names = dict.fromkeys(
                found[2].partition("@")[0].strip() for found in BLOCK.finditer(before)
            )
            rows = taken(rows, list(names), chosen.runs)
        after, text = fill(before, rows), io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        for path, new in ((page, after), (page.with_suffix(".csv"), text.getvalue())):
            if path.read_text(encoding="utf-8") != new:
                changed = True
                if not chosen.check:
                    write_whole(path, new)
    return int(changed and chosen.check)


if __name__ == "__main__":
    sys.exit(main())
