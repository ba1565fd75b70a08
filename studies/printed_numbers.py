"""Numbers as a paper prints them, as text. No pandas and no torch: claims read them too."""

from __future__ import annotations

import re
from collections.abc import Mapping

Cell = tuple[str, str | None]
"""A number, and its spread where the paper prints one."""
Printed = dict[tuple[str, str], Mapping[str, Cell]]
"""(data, row) -> measure -> cell. Measures that a row does not have are left out."""
CELL = re.compile(r"(-?\d*\.?\d+)\s*(?:±\s*(\d*\.?\d+))?")


def printed(text: str, measures: tuple[str, ...]) -> Printed:
    """Read lines ``data | row | number ± spread | ...``, a number for each measure; "-" where there
    is none.

    Raises
    ------
    ValueError : a line that is not so.
    """
    table: Printed = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        data, row, *cells = (cell.strip() for cell in line.split("|"))
        if len(cells) != len(measures):
            raise ValueError(
                f"a line must have {len(measures)} numbers ({', '.join(measures)}), got {line!r}"
            )
        table[data, row] = {
            m: _cell(m, cell, line) for m, cell in zip(measures, cells, strict=True) if cell != "-"
        }
    return table


def _cell(measure: str, cell: str, line: str) -> Cell:
    match = CELL.fullmatch(cell)
    if match is None:
        raise ValueError(
            f"{measure} must be a number, with or without ± spread, got {cell!r} in {line!r}"
        )
    return match[1], match[2]
