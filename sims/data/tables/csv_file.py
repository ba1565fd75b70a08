"""A table that somebody else wrote: read it, and take columns from it, with an error that says what
is wrong and where.

Rows are counted from 1, the header left out.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl._support.checks import existing_file, shown, some

PARQUET = (".parquet", ".pq")
FORM: Any = {"encoding": "utf-8-sig", "skipinitialspace": True}
UNNAMED = "Unnamed: "
"""What a column without a name in the header is called, followed by its number."""


def read_table(path: Path) -> pd.DataFrame:
    """Return a file as a table with at least one row.

    Parquet by its suffix (.parquet, .pq), else comma-separated text with a header, in UTF-8, where
    only an empty cell is a missing value.

    Raises
    ------
    ValueError
        If the file is empty, or not such a table.
    OSError
        If it cannot be read; `FileNotFoundError` if there is none.
    """
    existing_file(path)
    if path.suffix.lower() in PARQUET:
        import pyarrow  # noqa: F401  # pandas' own error does not name it
    try:
        frame = pd.read_parquet(path) if path.suffix.lower() in PARQUET else _read_text(path)
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"{str(path)!r} is empty") from error
    except ValueError as error:
        # among them pandas' ParserError, pyarrow's ArrowInvalid and UnicodeDecodeError
        raise ValueError(f"{str(path)!r} is not a readable table: {error}") from error
    except OSError as error:
        raise OSError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    frame.columns = frame.columns.astype(str)
    if len(frame) == 0:
        raise ValueError(f"{str(path)!r} has no rows below its header")
    return frame.reset_index(drop=True)


def _read_text(path: Path) -> pd.DataFrame:
    """Return a comma-separated file as a table; columns of the same name both keep it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            # else the texts "NA" (a continent) or "None" are missing values
            missing: Any = {"keep_default_na": False, "na_values": [""]}
            frame = pd.read_csv(path, index_col=False, low_memory=False, **FORM, **missing)
        except pd.errors.ParserWarning as error:
            raise ValueError("its rows are longer than its header") from error
    written = pd.read_csv(path, header=None, nrows=1, dtype=str, **FORM).iloc[0]
    names = [
        read if pd.isna(name) else name for name, read in zip(written, frame.columns, strict=True)
    ]
    frame.columns = pd.Index(names)
    return frame


def require_column(frame: pd.DataFrame, role: str, column: str, path: Path) -> None:
    """ValueError unless the table has the column, once. `role` is what it is wanted for."""
    count = list(frame.columns).count(column)
    if count != 1:
        there = some([repr(name) for name in frame.columns])
        problem = f"one column, got {count} of that name," if count else "a column"
        raise ValueError(f"{role} {column!r} must be {problem} of {path.name}; it has {there}")


def complete(frame: pd.DataFrame, column: str) -> pd.Series:
    """Return a column; a missing value raises `ValueError`."""
    values = pd.Series(frame[column])
    missing = values.isna().to_numpy(dtype=bool)
    if missing.any():
        count = int(missing.sum())
        more = f", and in {count - 1} more" if count > 1 else ""
        raise ValueError(
            f"column {column!r} has a missing value (NaN) in row "
            f"{int(np.argmax(missing)) + 1}{more}"
        )
    return values


def numbers(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column as finite numbers, shape (n,); anything else raises `ValueError`."""
    values = complete(frame, column)
    parsed = pd.Series(pd.to_numeric(values, errors="coerce")).to_numpy(
        dtype=np.float64, na_value=np.nan
    )
    wrong = ~np.isfinite(parsed)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"column {column!r} must hold finite numbers, got {shown(values.iloc[row])} in row "
            f"{row + 1}"
        )
    return parsed


def categories(frame: pd.DataFrame, column: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return a column as codes (n,), and the name of each code, values in sorted order."""
    values = complete(frame, column)
    if values.dtype == object:  # may mix kinds, which do not compare
        values = values.astype(str)
    codes, levels = pd.factorize(values, sort=True)
    return codes.astype(np.int64), tuple(str(level) for level in levels)
