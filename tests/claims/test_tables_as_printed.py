"""Tables typed from the papers are as printed, where FAIRFL_PAPERS names their texts."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from paper_tables import NUMBER, Cell, printed

from fairfl.claims.propfair import tables as propfair
from fairfl.studies.papers.fedfb import published_numbers as fedfb_numbers
from fairfl.studies.papers.pffl import published_numbers as pffl_numbers
from fairfl.studies.papers.propfair import published_numbers as propfair_numbers
from fairfl.studies.papers.qffl import published_numbers as qffl_numbers
from fairfl.studies.printed_numbers import Printed

Read = Callable[[str, str, Sequence[str]], list[list[Cell]]]
Typed = dict[tuple[str, str], list[Cell]]
"""(data, row) -> cells, as ``studies`` has them."""


@pytest.fixture(scope="module")
def read() -> Read:
    """(paper, start of the table, labels of its lines) -> their cells."""
    folder = os.environ.get("FAIRFL_PAPERS")
    if not folder:
        pytest.skip(
            "FAIRFL_PAPERS is unset: it names the folder with the papers' texts, fedfb.txt and "
            "so on"
        )
    return lambda paper, start, labels: printed(
        (Path(folder) / f"{paper}.txt").read_text("utf-8"), start, labels
    )


def typed(table: Printed) -> Typed:
    return {
        key: [
            (Fraction(mean), None if spread is None else Fraction(spread))
            for mean, spread in cells.values()
        ]
        for key, cells in table.items()
    }


def means(lines: Iterable[Sequence[Cell]]) -> list[list[Fraction]]:
    return [[mean for mean, _ in line] for line in lines]


def numbers(texts: Iterable[Any]) -> list[Fraction]:
    return [Fraction(text) for text in texts if text is not None]


REAL = ("Synthetic", "Adult", "COMPAS", "Bank")
FEDFB_ROWS = ("FedAvg", "LFT+Ensemble", "LFT+FedAvg", "FedFB", "CFL")
LEVELS = [
    f"{data}, {level}"
    for data in ("Adult", "COMPAS")
    for level in ("0.1", "0.2", "0.5", "10", "5000")
]
FEDFB: dict[str, tuple[Typed, Sequence[str], Sequence[str]]] = {
    "1": (typed(fedfb_numbers.TABLE_1), REAL, FEDFB_ROWS),
    "2": (
        typed(fedfb_numbers.TABLE_2),
        ("Synthetic, low", "Synthetic", "Synthetic, high"),
        ("FedFB", "CFL"),
    ),
    "4": (typed(fedfb_numbers.TABLE_4), REAL, FEDFB_ROWS),
    "5": (
        typed(fedfb_numbers.TABLE_5),
        ("Synthetic, 2 clients", "Synthetic", "Synthetic, 4 clients"),
        FEDFB_ROWS,
    ),
    "7": (typed(fedfb_numbers.TABLE_7), REAL, ("FedFB", "AgnosticFair")),
}
SPD = typed(fedfb_numbers.TABLE_6)


@pytest.mark.parametrize("number", FEDFB)
def test_fedfb_tables_are_as_printed(read: Read, number: str):
    table, datasets, rows = FEDFB[number]
    ours = [[cell for data in datasets for cell in table[data, row]] for row in rows]
    assert read("fedfb", f"\nTable {number}: Comparison of ", rows) == ours


def test_fedfb_table_6_is_as_printed(read: Read):
    rows = ("FairFed", "FedFB")
    ours = [[SPD[level, row][measure] for level in LEVELS] for measure in (0, 1) for row in rows]
    assert read("fedfb", "\nTable 6: Comparison of ", rows * 2) == ours


QFFL_DATA = {
    "Synthetic": "q = 1",
    "Vehicle": "q = 5",
    "Sent140": "q = 1",
    "Shakespeare": "q = .001",
}
BOTH = [(data, row) for data, q in QFFL_DATA.items() for row in ("q = 0", q)]
UNIFORM = [(data, row) for data, q in QFFL_DATA.items() for row in ("uniform", q)]
FAMILY = [("Synthetic", f"q = {q}") for q in ("0", "0.1", "1", "2", "5")]
SEVERAL = [
    (data, row) for data, q in list(QFFL_DATA.items())[1::2] for row in ("q = 0", q, "multiple q")
]
QFFL: dict[str, tuple[str, Typed, list[tuple[str, str]]]] = {
    "4": ("\nTable 4: Full statistics", typed(qffl_numbers.TABLE_4), BOTH),
    "5": ("\nTable 5: More statistics", typed(qffl_numbers.TABLE_5), BOTH),
    "7": ("\nTable 7: More statistics", typed(qffl_numbers.TABLE_7), UNIFORM),
    "8": ("\nTable 8: More statistics", typed(qffl_numbers.TABLE_8), UNIFORM),
    "9": ("\nTable 9: Test accuracy", typed(qffl_numbers.TABLE_9), FAMILY),
    "10": ("\nTable 10: Effects of running", typed(qffl_numbers.TABLE_10), SEVERAL),
}
TABLE_2 = {"q = 0": "q=0", "AFL": "AFL", "q_1": "q_1>0", "q_2": "q_2 > q_1"}
"""Our names of the rows, and what stands in their lines."""


@pytest.mark.parametrize("number", QFFL)
def test_qffl_tables_are_as_printed(read: Read, number: str):
    start, table, rows = QFFL[number]
    assert dict(zip(rows, read("qffl", start, [row for _, row in rows]), strict=True)) == table


def test_qffl_table_1_is_a_part_of_table_4(read: Read):
    table = typed(qffl_numbers.TABLE_4)
    assert read("qffl", "\nTable 1: Statistics", [row for _, row in BOTH]) == [
        table[key][:4] for key in BOTH
    ]


def test_qffl_table_2_is_as_printed(read: Read):
    lines = read("qffl", "\nTable 2: Our objective", list(TABLE_2.values()))
    adult, fashion = typed(qffl_numbers.ADULT), typed(qffl_numbers.FASHION)
    assert [line[:3] for line in lines] == [adult["Adult", row] for row in TABLE_2]
    assert [line[3:] for line in lines] == [fashion["Fashion-MNIST", row] for row in TABLE_2]


def test_qffl_table_3_is_as_printed(read: Read):
    table = {data: cells for (data, _), cells in typed(qffl_numbers.TABLE_3).items()}
    lines = read("qffl", "\nDataset\tDevices\tSamples", list(table))
    assert means(line[:3] for line in lines) == means(table.values())


def test_qffl_table_6_has_these_numbers(read: Read):
    """Its cells hold two rows each, and its columns are mixed up: the numbers of the first two data
    sets, sorted.
    """
    text = (Path(os.environ["FAIRFL_PAPERS"]) / "qffl.txt").read_text("utf-8")
    table = (
        text.partition("\nTable 6: Average")[2]
        .partition("w.r.t. Devices (%)")[2]
        .partition("Sent140")[0]
    )
    cells = re.findall(rf"({NUMBER})\s*(?:±|\\pm)\s*({NUMBER})", table)
    ours = [cell for row in typed(qffl_numbers.TABLE_6).values() for cell in row]
    assert sorted((Fraction(mean), Fraction(spread)) for mean, spread in cells) == sorted(ours)  # type: ignore[type-var]


def test_pffl_table_1_is_as_printed(read: Read):
    table = typed(pffl_numbers.TABLE_1)
    assert read("pffl", "\nDataset\tObjective\tAverage(%)", [row for _, row in table]) == list(
        table.values()
    )


PROPFAIR = {
    "\nTable 6: Comparison": propfair_numbers.TABLE_6,
    "\nTable 7: Comparison": propfair_numbers.TABLE_7,
    "\nTable 8: Comparison": propfair_numbers.TABLE_8,
}


@pytest.mark.parametrize("start", PROPFAIR)
def test_propfair_accuracies_are_as_printed(read: Read, start: str):
    table = typed(PROPFAIR[start])
    assert read("propfair", start, [name for _, name in table]) == list(table.values())


def test_propfair_settings_are_as_printed(read: Read):
    splits = read("propfair", "\nTable 2: Details", list(propfair.SPLITS))
    assert means(line[:2] for line in splits) == [
        numbers(row[:2]) for row in propfair.SPLITS.values()
    ]
