"""Frames of pandas, Polars and Arrow, as rows of texts: what a file of the same table would have.

A frame is read by its own methods, so that none of these libraries is imported.
"""

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from fairfl._support.checks import existing_file, shown

NO_VALUE = ("None", "nan", "NaT", "<NA>")
"""How frames print that a cell, which is no text, has no value."""


def table_path(table: Any) -> Path:
    """The path of a file, which must exist; of a frame what messages call it.

    ValueError: neither.
    """
    if isinstance(table, (str, PathLike)):
        return existing_file(Path(table))
    if not (hasattr(table, "columns") and hasattr(table, "__getitem__")):
        raise ValueError(
            f"people must be a path, or a frame of pandas, Polars or Arrow, got {shown(table)}"
        )
    return Path("the frame")


def frame_rows(frame: Any) -> Iterator[Sequence[str]]:
    """The header and the rows of a frame, one after the other, as texts; "" where no value is."""
    names = getattr(frame, "column_names", None) or list(frame.columns)
    # two columns of pandas may have one name
    columns = frame.items() if hasattr(frame, "items") else ((n, frame[n]) for n in names)
    yield [str(name) for name in names]
    yield from zip(*(_texts(column) for _, column in columns), strict=True)


def _texts(column: Any) -> list[str]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    texts = map(str, values)
    return [
        "" if text in NO_VALUE and not isinstance(value, str) else text
        for value, text in zip(values, texts, strict=True)
    ]
