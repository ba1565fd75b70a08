"""Tables typed from the papers are as printed, where FAIRFL_PAPERS names their texts."""

import os
import re
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest

from fairfl.claims.propfair.tables import SPLITS
from fairfl.studies.published_numbers import (
    FEDFB_TABLES,
    PFFL_TABLES,
    PROPFAIR_TABLES,
    QFFL_TABLES,
    Printed,
)

Cell = tuple[Fraction, Fraction | None]
"""A mean and its spread, where one is printed."""

NUMBER = r"\d*\.?\d+(?:e-?\d+)?"
CELL = re.compile(rf"({NUMBER})(?: +({NUMBER}))*")
MARKUP = re.compile(r"</?\w+>|±plus-or-minus\\pm|\\[a-z]+|[{}$~±*|]")
MISPRINTS = {"006.": ".006"}
"""FedFB, table 4, LFT+Ensemble on Adult: the point stands behind the digits."""


def printed(text: str, start: str, labels: Sequence[str]) -> list[list[Cell]]:
    """Cells of the lines below ``start``, which is there once, with these labels in this order."""
    assert text.count(start) == 1, f"{start!r} stands {text.count(start)} times in the text"
    rest = iter(text[text.index(start) + len(start) :].splitlines())
    rows = []
    for label in labels:
        read = (cells(line, label) for line in rest if squeezed(label) in squeezed(line))
        rows.append(next(filter(None, read), []))
        assert rows[-1], f"no numbers behind {label!r} below {start!r}"
    return rows


def cells(line: str, label: str) -> list[Cell]:
    """The cells that hold a number, with or without a spread, behind the one with the label."""
    for wrong, right in MISPRINTS.items():
        line = line.replace(wrong, right)
    # without tabs: blanks between cells, none within
    parts = line.split("\t") if "\t" in line else line.replace("|||", "").split(" ")
    behind = next((k + 1 for k, part in enumerate(parts) if squeezed(label) in squeezed(part)), 0)
    texts = (MARKUP.sub(" ", part) for part in parts[behind:])
    plain = (re.sub(r"(?<=\d),(?=\d{3}\b)", "", text).strip() for text in texts)
    read = (CELL.fullmatch(re.sub(r" +", " ", part)) for part in plain)
    return [(Fraction(cell[1]), Fraction(cell[2]) if cell[2] else None) for cell in read if cell]


def squeezed(text: str) -> str:
    """Letters, digits, + and = alone, no mark-up."""
    return re.sub(r"[^\w+=]", "", MARKUP.sub("", text))


def text(paper: str) -> str:
    folder = os.environ.get("FAIRFL_PAPERS")
    if not folder:
        pytest.skip("FAIRFL_PAPERS is unset: it names the folder with the papers' texts")
    return (Path(folder) / f"{paper}.txt").read_text("utf-8")


def typed(table: Printed) -> dict[tuple[str, str], list[Cell]]:
    """(data, row) -> cells."""
    return {
        key: [(Fraction(m), None if s is None else Fraction(s)) for m, s in cells.values()]
        for key, cells in table.items()
    }


def means(lines: list[list[Cell]]) -> list[list[Fraction]]:
    return [[mean for mean, _ in line] for line in lines]


def by_data(table: Printed, keys: list[tuple[str, str]] | None = None) -> list[tuple[str, list]]:
    """A line for each data set and row, as (label, cells)."""
    cells = typed(table)
    return [(key[1], cells[key]) for key in keys or cells]


def by_row(table: Printed, data: list[str], rows: list[str]) -> list[tuple[str, list]]:
    """A line for each row, with all data sets side by side."""
    cells = typed(table)
    return [(row, [cell for name in data for cell in cells[name, row]]) for row in rows]


REAL = ["Synthetic", "Adult", "COMPAS", "Bank"]
METHODS = ["FedAvg", "LFT+Ensemble", "LFT+FedAvg", "FedFB", "CFL"]
LEVELS = [f"{data}, {level}" for data in REAL[1:3] for level in ("0.1", "0.2", "0.5", "10", "5000")]
HETEROGENEITY = ["Synthetic, low", "Synthetic", "Synthetic, high"]
COUNTS = ["Synthetic, 2 clients", "Synthetic", "Synthetic, 4 clients"]
CHOSEN = {"Synthetic": "q = 1", "Vehicle": "q = 5", "Sent140": "q = 1", "Shakespeare": "q = .001"}
BOTH = [(data, row) for data, q in CHOSEN.items() for row in ("q = 0", q)]
UNIFORM = [(data, row) for data, q in CHOSEN.items() for row in ("uniform", q)]
FAMILY = [("Synthetic", f"q = {q}") for q in ("0", "0.1", "1", "2", "5")]
SEVERAL = [(d, q) for d in ("Vehicle", "Shakespeare") for q in ("q = 0", CHOSEN[d], "multiple q")]
ROWS_2 = {"q = 0": "q=0", "AFL": "AFL", "q_1": "q_1>0", "q_2": "q_2 > q_1"}
"""Our names of the rows, and what stands in their lines."""
ADULT, FASHION = typed(QFFL_TABLES["2, Adult"]), typed(QFFL_TABLES["2, Fashion-MNIST"])
SPD = typed(FEDFB_TABLES["6"])
TABLES = {
    ("fedfb", "\nTable 1: Comparison of "): by_row(FEDFB_TABLES["1"], REAL, METHODS),
    ("fedfb", "\nTable 2: Comparison of "): by_row(
        FEDFB_TABLES["2"], HETEROGENEITY, ["FedFB", "CFL"]
    ),
    ("fedfb", "\nTable 4: Comparison of "): by_row(FEDFB_TABLES["4"], REAL, METHODS),
    ("fedfb", "\nTable 5: Comparison of "): by_row(FEDFB_TABLES["5"], COUNTS, METHODS),
    ("fedfb", "\nTable 6: Comparison of "): [
        (row, [SPD[level, row][measure] for level in LEVELS])
        for measure in (0, 1)
        for row in ("FairFed", "FedFB")
    ],
    ("fedfb", "\nTable 7: Comparison of "): by_row(
        FEDFB_TABLES["7"], REAL, ["FedFB", "AgnosticFair"]
    ),
    ("qffl", "\nTable 1: Statistics"): [
        (row, cells[:4]) for row, cells in by_data(QFFL_TABLES["4"], BOTH)
    ],
    ("qffl", "\nTable 2: Our objective"): [
        (label, ADULT["Adult", row] + FASHION["Fashion-MNIST", row])
        for row, label in ROWS_2.items()
    ],
    ("qffl", "\nTable 4: Full statistics"): by_data(QFFL_TABLES["4"], BOTH),
    ("qffl", "\nTable 5: More statistics"): by_data(QFFL_TABLES["5"], BOTH),
    ("qffl", "\nTable 7: More statistics"): by_data(QFFL_TABLES["7"], UNIFORM),
    ("qffl", "\nTable 8: More statistics"): by_data(QFFL_TABLES["8"], UNIFORM),
    ("qffl", "\nTable 9: Test accuracy"): by_data(QFFL_TABLES["9"], FAMILY),
    ("qffl", "\nTable 10: Effects of running"): by_data(QFFL_TABLES["10"], SEVERAL),
    ("pffl", "\nDataset\tObjective\tAverage(%)"): by_data(PFFL_TABLES["1"]),
    ("propfair", "\nTable 6: Comparison"): by_data(PROPFAIR_TABLES["6"]),
    ("propfair", "\nTable 7: Comparison"): by_data(PROPFAIR_TABLES["7"]),
    ("propfair", "\nTable 8: Comparison"): by_data(PROPFAIR_TABLES["8"]),
}
"""By paper and the beginning of a table: its lines, each with its label and cells."""


DIGEST = "b7fd9ef6d650d31b"
"""Of all typed tables as they were when they agreed with the papers' texts: a changed digit shows
where there are no texts.
"""


def test_typed_tables_are_those_that_agreed() -> None:
    tables = FEDFB_TABLES, PFFL_TABLES, PROPFAIR_TABLES, QFFL_TABLES
    assert sha256(repr([*tables, SPLITS]).encode()).hexdigest()[:16] == DIGEST


@pytest.mark.parametrize(("paper", "start"), TABLES)
def test_tables_are_as_printed(paper: str, start: str) -> None:
    lines = TABLES[paper, start]
    assert printed(text(paper), start, [label for label, _ in lines]) == [c for _, c in lines]


def test_sizes_are_as_printed() -> None:
    table = {data: cells for (data, _), cells in typed(QFFL_TABLES["3"]).items()}
    lines = printed(text("qffl"), "\nDataset\tDevices\tSamples", list(table))
    assert means([line[:3] for line in lines]) == means(list(table.values()))
    lines = printed(text("propfair"), "\nTable 2: Details", list(SPLITS))
    assert means([line[:2] for line in lines]) == [[*row[:2]] for row in SPLITS.values()]


def test_qffl_table_6_has_these_numbers() -> None:
    """Its cells hold two rows each, and its columns are mixed up: the numbers of the first two data
    sets, sorted.
    """
    table = text("qffl").partition("\nTable 6: Average")[2].partition("w.r.t. Devices (%)")[2]
    numbers = re.findall(rf"({NUMBER})\s*(?:±|\\pm)\s*({NUMBER})", table.partition("Sent140")[0])
    ours = [cell for row in typed(QFFL_TABLES["6"]).values() for cell in row]
    assert sorted((Fraction(mean), Fraction(spread)) for mean, spread in numbers) == sorted(ours)  # type: ignore[type-var]
