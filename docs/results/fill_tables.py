"""Fill the tables of docs/results from the CSV of each page, so that no number is copied by hand.

    python docs/results/fill_tables.py               # every page with a block, from its CSV
    python docs/results/fill_tables.py --runs DIR    # first update the CSV from the runs of
                                                     # ``fairfl simulate NAME --out DIR``
    python docs/results/fill_tables.py --check       # write nothing; 1 if a page would change

The text between ``<!-- fill NAME: MEASURE, ... -->`` and ``<!-- /fill -->`` of PAGE.md becomes the
table of experiment NAME in PAGE.csv: a row per data set and objective, cells "ours ± sd [published
± sd]", with a star where the means differ by more than twice the larger spread. ``NAME@DATA``
selects one data set. The CSV has the numbers as printed.
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
"""Distance in spreads from which a star is printed."""

Row = dict[str, str]


def fill(page: str, rows: list[Row]) -> str:
    """The page with its blocks filled. Errors: ValueError for an experiment, a data set or a
    measure without rows.
    """
    return BLOCK.sub(
        lambda match: match[1] + table(match[2].strip(), match[3], rows) + match[4], page
    )


def table(name: str, measures: str, rows: list[Row]) -> str:
    """One block's Markdown, with a line end."""
    experiment, _, dataset = name.partition("@")
    chosen = [
        row for row in rows if row["experiment"] == experiment and dataset in ("", row["dataset"])
    ]
    columns = [measure.strip() for measure in measures.split(",")]
    measured = sorted({row["measure"] for row in chosen})
    missing = [measure for measure in columns if measure not in measured]
    if missing:
        raise ValueError(f"{name} must have measured {missing[0]!r}, its rows have {measured}")
    lines = [[*(() if dataset else ("data",)), "objective", *columns]]
    for keys in dict.fromkeys((row["dataset"], row["objective"]) for row in chosen):
        cells = {
            row["measure"]: cell(row)
            for row in chosen
            if (row["dataset"], row["objective"]) == keys
        }
        lines.append([*keys[bool(dataset) :], *(cells.get(measure, "") for measure in columns)])
    text = ["| " + " | ".join(field.replace("|", r"\|") for field in line) + " |" for line in lines]
    return "\n".join([text[0], "| " + " | ".join("---" for _ in lines[0]) + " |", *text[1:]]) + "\n"


def cell(row: Row) -> str:
    """Our number, the published one in brackets, and a star where they are far apart."""
    text = number(row["mean"], row["sd"])
    return (
        text
        + (f" [{number(row['published'], row['published_sd'])}]" if row["published"] else "")
        + row["far"]
    )


def number(mean: str, sd: str) -> str:
    """``mean ± sd``, or the mean where there is no spread."""
    return f"{mean} ± {sd}" if sd else mean


def with_runs(rows: list[Row], experiments: list[str], runs: Path) -> list[Row]:
    """The rows, with those of every experiment that was run replaced by its table.csv."""
    for experiment in experiments:
        path = runs / experiment / "table.csv"
        if path.is_file():
            new = [rounded(experiment, row) for row in read(path)]
            position = next(
                (k for k, row in enumerate(rows) if row["experiment"] == experiment), len(rows)
            )
            remaining = [row for row in rows if row["experiment"] != experiment]
            rows = [*remaining[:position], *new, *remaining[position:]]
    return rows


def rounded(experiment: str, row: Row) -> Row:
    """A row of table.csv in the form of a page's CSV: rounded, a star instead of the distance."""
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
                match[2].partition("@")[0].strip() for match in BLOCK.finditer(before)
            )
            rows = with_runs(rows, list(names), chosen.runs)
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
