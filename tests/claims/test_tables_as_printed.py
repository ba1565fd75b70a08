"""Tables typed from the papers: as printed, where FAIRFL_PAPERS names their texts; and typed alike twice."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from paper_tables import NUMBER, Cell, printed

from fairfl.claims.fedfb import tables as fedfb
from fairfl.claims.pffl import table_1 as pffl
from fairfl.claims.pffl import table_1_variance
from fairfl.claims.propfair import tables as propfair
from fairfl.claims.qffl import tables as qffl
from fairfl.studies.papers.fedfb import numbers as fedfb_numbers
from fairfl.studies.papers.fedfb import table_7 as fedfb_table_7
from fairfl.studies.papers.pffl import table_1 as pffl_table_1
from fairfl.studies.papers.propfair import table_6 as propfair_table_6
from fairfl.studies.papers.qffl import numbers as qffl_numbers
from fairfl.studies.papers.qffl import table_2 as qffl_table_2
from fairfl.studies.papers.qffl import three_classes

Read = Callable[[str, str, Sequence[str]], list[list[Cell]]]
Typed = dict[tuple[str, str], list[Cell]]
"""(data, row) -> cells, as ``sims`` has them."""


@pytest.fixture(scope="module")
def read() -> Read:
    """(paper, start of the table, labels of its lines) -> their cells."""
    folder = os.environ.get("FAIRFL_PAPERS")
    if not folder:
        pytest.skip("FAIRFL_PAPERS is unset: it names the folder with the papers' texts, fedfb.txt and so on")
    return lambda paper, start, labels: printed((Path(folder) / f"{paper}.txt").read_text("utf-8"), start, labels)


def typed(table: pd.DataFrame) -> Typed:
    found: Typed = {}
    for row in table.to_dict("records"):
        spread = None if pd.isna(row["published_sd"]) else Fraction(str(row["published_sd"]))
        found.setdefault((row["dataset"], row["objective"]), []).append((Fraction(str(row["published"])), spread))
    return found


def means(lines: Iterable[Sequence[Cell]]) -> list[list[Fraction]]:
    return [[mean for mean, _ in line] for line in lines]


def numbers(texts: Iterable[Any]) -> list[Fraction]:
    return [Fraction(text) for text in texts if text is not None]


REAL = ("Synthetic", "Adult", "COMPAS", "Bank")
FEDFB_ROWS = ("FedAvg", "LFT+Ensemble", "LFT+FedAvg", "FedFB", "CFL")
LEVELS = [f"{data}, {level}" for data in ("Adult", "COMPAS") for level in ("0.1", "0.2", "0.5", "10", "5000")]
TABLE_7 = {
    (data, row): [(Fraction(cell.split()[0]), Fraction(cell.split()[2])) for cell in line.split(" | ")]
    for row, lines in (("FedFB", fedfb_table_7.FEDFB_LINES), ("AgnosticFair", fedfb_table_7.AGNOSTIC_LINES))
    for data, line in lines.items()
}
FEDFB: dict[str, tuple[Typed, Sequence[str], Sequence[str]]] = {
    "1": (typed(fedfb_numbers.TABLE_1), REAL, FEDFB_ROWS),
    "2": (typed(fedfb_numbers.TABLE_2), ("Synthetic, low", "Synthetic", "Synthetic, high"), ("FedFB", "CFL")),
    "4": (typed(fedfb_numbers.TABLE_4), REAL, FEDFB_ROWS),
    "5": (
        typed(fedfb_numbers.TABLE_5), ("Synthetic, 2 clients", "Synthetic", "Synthetic, 4 clients"), FEDFB_ROWS
    ),
    "7": (TABLE_7, REAL, ("FedFB", "AgnosticFair")),
}  # fmt: skip
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


def test_fedfb_tables_of_the_claims_are_those_of_the_simulator():
    for number, claimed in fedfb.TABLES.items():
        table, datasets, rows = FEDFB[number]
        assert tuple(claimed) == tuple(rows)
        for row, line in claimed.items():
            cells = [tuple(Fraction(value, 1000) for value in cell) for cell in line]
            assert cells == [(*table[data, row][0], *table[data, row][1]) for data in datasets], (number, row)
    for row, line in fedfb.TABLE_6.items():
        assert [Fraction(value, 1000) for value in line] == [SPD[level, row][1][0] for level in LEVELS]


QFFL_DATA = {"Synthetic": "q = 1", "Vehicle": "q = 5", "Sent140": "q = 1", "Shakespeare": "q = .001"}
BOTH = [(data, row) for data, q in QFFL_DATA.items() for row in ("q = 0", q)]
UNIFORM = [(data, row) for data, q in QFFL_DATA.items() for row in ("uniform", q)]
FAMILY = [("Synthetic", f"q = {q}") for q in ("0", "0.1", "1", "2", "5")]
SEVERAL = [(data, row) for data, q in list(QFFL_DATA.items())[1::2] for row in ("q = 0", q, "multiple q")]
QFFL: dict[str, tuple[str, Typed, list[tuple[str, str]]]] = {
    "4": ("\nTable 4: Full statistics", typed(qffl_numbers.TABLE_4), BOTH),
    "5": ("\nTable 5: More statistics", typed(qffl_numbers.TABLE_5), BOTH),
    "7": ("\nTable 7: More statistics", typed(qffl_numbers.TABLE_7), UNIFORM),
    "8": ("\nTable 8: More statistics", typed(qffl_numbers.TABLE_8), UNIFORM),
    "9": ("\nTable 9: Test accuracy", typed(qffl_numbers.TABLE_9), FAMILY),
    "10": ("\nTable 10: Effects of running", typed(qffl_numbers.TABLE_10), SEVERAL),
}
"""The simulator has Synthetic and Vehicle, which come first."""
TABLE_2 = {"q = 0": "q=0", "AFL": "AFL", "q_1": "q_1>0", "q_2": "q_2 > q_1"}
"""Our names of the rows, and what stands in their lines."""


def qffl_claimed(training: bool) -> dict[tuple[str, str], list[Fraction]]:
    """Rows of the claims, named "data, row" or "data, training, row"."""
    found = {}
    for name, row in qffl.ROWS.items():
        data, *middle, objective = name.split(", ")
        if bool(middle) == training:
            found[data, "multiple q" if objective == "multiple" else objective] = numbers(row)
    return found


@pytest.mark.parametrize("number", QFFL)
def test_qffl_tables_are_as_printed(read: Read, number: str):
    start, table, rows = QFFL[number]
    lines = dict(zip(rows, read("qffl", start, [row for _, row in rows]), strict=True))
    assert {key: lines[key] for key in table} == table
    claimed = qffl_claimed(training=number in ("5", "7"))
    known = {key: cells for key, cells in lines.items() if key in claimed}
    assert known
    assert means(known.values()) == [claimed[key] for key in known]


def test_qffl_table_1_is_a_part_of_table_4(read: Read):
    claimed = qffl_claimed(training=False)
    lines = read("qffl", "\nTable 1: Statistics", [row for _, row in BOTH])
    assert means(lines) == [claimed[key][:4] for key in BOTH]


def test_qffl_table_2_is_as_printed(read: Read):
    lines = read("qffl", "\nTable 2: Our objective", list(TABLE_2.values()))
    assert means(line[3:] for line in lines) == [numbers(qffl.FASHION[row]) for row in TABLE_2]
    adult, fashion = typed(qffl_table_2.ADULT), typed(qffl_table_2.FASHION)
    data = three_classes.FASHION
    rows = ("q = 0, by size", "AFL", "q = 0.01, equal", "q = 2, equal")
    assert [line[:3] for line in lines] == [adult["Adult", row] for row in rows]
    rows = ("q = 0, equal", "AFL", "q = 5, equal", "q = 15, equal")
    assert [line[3:] for line in lines] == [fashion[data, row] for row in rows]
    assert adult["Adult", "AFL, mixture held"] == lines[1][:3]
    assert fashion[data, "AFL, mixture held"] == lines[1][3:]


def test_qffl_table_3_is_as_printed(read: Read):
    lines = read("qffl", "\nDataset\tDevices\tSamples", list(qffl.COUNTS))
    assert means(line[:3] for line in lines) == [numbers(row) for row in qffl.COUNTS.values()]


def test_qffl_table_6_has_these_numbers(read: Read):
    """Its cells hold two rows each, and its columns are mixed up: the numbers of the first two data sets, sorted."""
    text = (Path(os.environ["FAIRFL_PAPERS"]) / "qffl.txt").read_text("utf-8")
    table = text.partition("\nTable 6: Average")[2].partition("w.r.t. Devices (%)")[2].partition("Sent140")[0]
    cells = re.findall(rf"({NUMBER})\s*(?:±|\\pm)\s*({NUMBER})", table)
    ours = [cell for row in typed(qffl_numbers.TABLE_6).values() for cell in row]
    assert sorted((Fraction(mean), Fraction(spread)) for mean, spread in cells) == sorted(ours)  # type: ignore[type-var]


def test_qffl_rows_of_the_claims_are_those_of_the_simulator():
    for number, (_, table, _) in QFFL.items():
        claimed = qffl_claimed(training=number in ("5", "7"))
        for key in table.keys() & claimed.keys():
            assert means([table[key]]) == [claimed[key]], (number, key)


def test_pffl_table_1_is_as_printed(read: Read):
    keys = [(data, row) for data, rows in pffl.TABLE.items() for row in rows]
    lines = read("pffl", "\nDataset\tObjective\tAverage(%)", [row for _, row in keys])
    assert means(lines) == [numbers(pffl.TABLE[data][row]) for data, row in keys]


def test_pffl_table_1_of_the_claims_is_that_of_the_simulator():
    run = typed(pffl_table_1.PRINTED)
    for data, rows in pffl.TABLE.items():
        for row, line in rows.items():
            found = means([run[three_classes.FASHION if data == "FMNIST" else data, row]])[0]
            assert [*found[:-1], found[-1] / 10000] == numbers(line), (data, row)
    for row, variance in table_1_variance.ROWS.items():
        assert pffl.TABLE["FMNIST"][row][-1] == variance


ALGORITHMS = ("FedAvg", "q-FFL", "AFL", "TERM", "PropFair")
PROPFAIR = {
    "\nTable 6: Comparison": (propfair.DATASETS, 3),
    "\nTable 7: Comparison": (tuple(f"ratio {ratio}" for ratio in ("0.4", "0.5", "0.6", "0.7")), 2),
    "\nTable 8: Comparison": (propfair.BATCHES, 2),
}
"""Blocks of the tables, and the column of the worst tenth."""


@pytest.mark.parametrize("start", PROPFAIR)
def test_propfair_accuracies_are_as_printed(read: Read, start: str):
    blocks, worst = PROPFAIR[start]
    keys = [(block, name) for block in blocks for name in ALGORITHMS]
    lines = dict(zip(keys, read("propfair", start, [name for _, name in keys]), strict=True))
    for column, claimed in ((worst, propfair.WORST), (0, propfair.MEANS)):
        rows = {block: row for block, row in claimed.items() if block in blocks}
        ours = {(block, name): Fraction(text) for block, row in rows.items() for name, text in row.items()}
        assert ours == {key: line[column][0] for key, line in lines.items() if key[0] in rows}
    if propfair.DATASETS == blocks:
        assert typed(propfair_table_6.PUBLISHED) == {key: line for key, line in lines.items() if key[0] == "CIFAR-10"}


def test_every_row_of_propfair_is_held():
    assert {block for blocks, _ in PROPFAIR.values() for block in blocks} == propfair.WORST.keys()


def test_propfair_settings_are_as_printed(read: Read):
    splits = read("propfair", "\nTable 2: Details", list(propfair.SPLITS))
    assert means(line[:2] for line in splits) == [numbers(row[:2]) for row in propfair.SPLITS.values()]
    rates = read("propfair", "\nTable 5: The best learning rates", list(propfair.RATES))
    assert means(rates) == [numbers(row) for row in propfair.RATES.values()]
    text = (Path(os.environ["FAIRFL_PAPERS"]) / "propfair.txt").read_text("utf-8")
    for data in propfair.RATES:
        grid = propfair.VISION_GRID if data.startswith("CI") else propfair.LANGUAGE_GRID
        assert f"\n- {data}: $\\{{{', '.join(grid)}\\}}$" in text
