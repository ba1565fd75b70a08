"""Rows, groups and columns of tables, with types that pandas' signatures leave open."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Frame = Any
"""A DataFrame or a Series of which a type checker infers nothing."""


def loose(table: Any) -> Frame:
    """The same table, as a ``Frame``."""
    return table


def rows(table: pd.DataFrame, mask: ArrayLike) -> pd.DataFrame:
    """The rows for which ``mask`` is true."""
    return cast(pd.DataFrame, table[np.asarray(mask, dtype=bool)])


def among(table: pd.DataFrame, column: str, values: Sequence[object]) -> pd.DataFrame:
    """The rows whose ``column`` holds one of the values."""
    return rows(table, cast(pd.Series, table[column]).isin(list(values)))


def groups(table: pd.DataFrame, keys: list[str]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The keys' values and the rows that have them, in the order in which they first come."""
    for key, part in table.groupby(keys, sort=False):
        yield cast(tuple[Any, ...], key), cast(pd.DataFrame, part)


def floats(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """A column as float64."""
    return np.asarray(table[column], dtype=np.float64)


def pick(table: pd.DataFrame, **where: object) -> pd.DataFrame:
    """The rows in which every named column has the given value."""
    mask = np.ones(len(table), dtype=bool)
    for column, value in where.items():
        mask &= np.asarray(table[column] == value)
    return rows(table, mask)


def first(table: pd.DataFrame, column: str) -> float:
    """A column's first number."""
    return float(floats(table, column)[0])


def names(table: pd.DataFrame, column: str) -> list[str]:
    """A column's distinct values, in order of appearance."""
    return [str(value) for value in dict.fromkeys(table[column])]
