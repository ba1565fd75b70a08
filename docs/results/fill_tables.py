"""Fill the tables of docs/results from runs: ``python docs/results/fill_tables.py DIR``, DIR the
folder of ``fairfl simulate NAME --profile paper --out DIR``.

The text between ``<!-- fill NAME: MEASURE, ... -->`` and ``<!-- /fill -->`` of a page becomes the
table of DIR/NAME/table.csv, with a star where means differ by more than twice the larger spread.
``NAME@DATA`` selects one data set; a block that was not run stays.
"""

import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from fairfl._support.markdown_table import markdown_table
from fairfl._support.whole_file import write_whole
from fairfl.studies.beside_published import cell

RESULTS = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- fill ([^:\n]+): ([^\n]+?) -->\n).*?(<!-- /fill -->)", re.DOTALL)
FAR = 2.0
"""Distance in spreads from which a star is printed."""


def fill(page: str, runs: Path) -> str:
    """The page with these runs' blocks filled. ValueError: a data set or measure without rows."""

    def filled(block: re.Match[str]) -> str:
        experiment, _, dataset = block[2].strip().partition("@")
        path = runs / experiment / "table.csv"
        return block[1] + table(path, dataset, block[3]) + block[4] if path.is_file() else block[0]

    return BLOCK.sub(filled, page)


def table(path: Path, dataset: str, measures: str) -> str:
    """One block's Markdown, with a line end."""
    rows: Any = pd.read_csv(path)
    rows = rows[rows["dataset"] == dataset] if dataset else rows
    columns, measured = [name.strip() for name in measures.split(",")], sorted({*rows["measure"]})
    missing = [measure for measure in columns if measure not in measured]
    if missing:
        raise ValueError(
            f"{path.parent.name} must have measured {missing[0]!r}, its rows have {measured}"
        )
    keys = ["objective"] if dataset else ["dataset", "objective"]
    texts = [cell(row) + "*" * (row["apart"] > FAR) for row in rows.to_dict("records")]
    by_measure = rows.assign(cell=texts).pivot_table(
        "cell", keys, "measure", aggfunc="first", sort=False
    )
    head = [name.replace("dataset", "data") for name in [*keys, *columns]]
    body = by_measure[columns].fillna("").reset_index().to_numpy().tolist()
    return markdown_table([head, *body]) + "\n"


if __name__ == "__main__":
    for page in RESULTS.glob("*.md"):
        write_whole(page, fill(page.read_text("utf-8"), Path(sys.argv[1])))
