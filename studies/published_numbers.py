"""The papers' published numbers as they print them. Without pandas and torch, for claims."""

import re
from collections.abc import Mapping
from pathlib import Path

from fairfl._support.json_file import read_json

Cell = tuple[str, str | None]
"""A number, and its spread where the paper prints one."""
Printed = dict[tuple[str, str], Mapping[str, Cell]]
"""(data, row) -> measure -> cell. Measures that a row does not have are left out."""
CELL = re.compile(r"(-?\d*\.?\d+)\s*(?:±\s*(\d*\.?\d+))?")


def printed(text: str, measures: tuple[str, ...]) -> Printed:
    """Read lines ``data | row | number ± spread | ...``, a number for each measure, or "-"."""
    table: Printed = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        data, row, *cells = (cell.strip() for cell in line.split("|"))
        pairs = zip(measures, cells, strict=True)
        table[data, row] = {name: _cell(cell) for name, cell in pairs if cell != "-"}
    return table


def _cell(text: str) -> Cell:
    match = CELL.fullmatch(text)
    assert match is not None, text
    return match[1], match[2]


def tables_of(file: str) -> dict[str, Printed]:
    """A paper's tables by number."""
    tables = read_json(Path(__file__).parent / "data" / file)
    return {
        number: printed("\n".join(table["rows"]), tuple(table["measures"]))
        for number, table in tables.items()
    }


FEDFB_TABLES = tables_of("fedfb.json")
"""On COMPAS table 7's line of FedFB is CFL's in table 1."""
PFFL_TABLES = tables_of("pffl.json")
"""Accuracies in percent, variances of accuracies as shares of one."""
PROPFAIR_TABLES = tables_of("propfair.json")
"""In percent: table 7 by share of training data, table 8 by batch size."""
QFFL_TABLES = tables_of("qffl.json")
"""In percent. In table 2 q_2 > q_1 > 0; table 1 is a part of table 4; table 6 is here in part."""
