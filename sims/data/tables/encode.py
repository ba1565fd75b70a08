"""FedFB's encoding of a table (section 5.3): numbers scaled to [0, 1], categories one-hot.

In its code the range of a number is that of the whole file; here it is that of the training rows,
applied to all rows, so that the preparation uses no test row, and a test value may lie outside.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl._support.checks import shown
from fairfl.sims.data.tables.people import one_hot


def encode(
    frame: pd.DataFrame,
    numeric: Sequence[str],
    categorical: Sequence[str],
    is_test: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The features of a table (n, d), and their names: the `numeric` columns, `scaled` by the rows
    where `is_test` (n,) is False; then of each of the `categorical` ones a 0/1 column
    "column=value" for each value, in sorted order. A missing value is 0 in all of them.
    """
    blocks: list[NDArray[np.float64]] = []
    names: list[str] = []
    for column in numeric:
        blocks.append(scaled(numbers(frame, column)[:, None], ~is_test))
        names.append(column)
    for column in categorical:
        codes, levels = pd.factorize(frame[column], sort=True)
        blocks.append(one_hot(codes, len(levels)))
        names.extend(f"{column}={level}" for level in levels)
    return np.hstack(blocks), tuple(names)


def numbers(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column as finite numbers, shape (n,); anything else raises `ValueError`."""
    values = pd.Series(pd.to_numeric(frame[column], errors="coerce"))
    parsed = values.to_numpy(dtype=np.float64, na_value=np.nan)
    is_invalid = ~np.isfinite(parsed)
    if is_invalid.any():
        row = int(np.argmax(is_invalid))
        raise ValueError(
            f"column {column!r} must hold finite numbers, got {shown(frame[column].iloc[row])} in "
            f"row {row + 1}"
        )
    return parsed


def scaled(x: NDArray[np.float64], train: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(x - min) / (max - min) of each column over its training rows; 0 if constant there."""
    low, width = scale(x, train)
    return (x - low) / width


def scale(
    x: NDArray[np.float64], train: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each column's min (d,) and max - min (d,) over its training rows, infinite if constant."""
    low, high = x[train].min(axis=0), x[train].max(axis=0)
    return low, np.where(high > low, high - low, np.inf)


def published(path: Path, columns: Sequence[str], **options: Any) -> pd.DataFrame:
    """A published CSV file, read with pandas' `options`; `ValueError` if it lacks a column."""
    frame = pd.read_csv(path, **options)
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{path.name} must have the columns {', '.join(columns)}; missing: {', '.join(missing)}"
        )
    return frame


def codes_of(
    frame: pd.DataFrame, column: str, allowed: Sequence[object], path: Path
) -> NDArray[np.int64]:
    """Each row's position in `allowed`; ValueError names another value's row, from 1."""
    codes = pd.Index(allowed).get_indexer(pd.Index(frame[column]))
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        value = frame[column].iloc[row]
        raise ValueError(
            f"{path.name}: {column} must be one of {list(allowed)}, got {value!r} in row {row + 1}"
        )
    return codes.astype(np.int64)


def row_note(rows: int, published: int) -> str:
    """Return a sentence for a table that is not of its published length, else nothing."""
    note = f" This copy has {rows} rows; the published data have {published}."
    return "" if rows == published else note
