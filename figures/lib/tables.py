"""Reading a figure's table: some of its rows, a column as numbers, one number."""

from typing import cast

import numpy as np
import pandas as pd

from fairfl._support.checks import Array


def pick(table: pd.DataFrame, **where: object) -> pd.DataFrame:
    """The rows in which every named column has the given value."""
    mask = np.ones(len(table), dtype=bool)
    for column, value in where.items():
        mask &= np.asarray(table[column] == value)
    return cast(pd.DataFrame, table[mask])


def numbers(table: pd.DataFrame, column: str) -> Array:
    """A column as floats."""
    return np.asarray(table[column], dtype=np.float64)


def first(table: pd.DataFrame, column: str) -> float:
    """A column's first number."""
    return float(numbers(table, column)[0])


def names(table: pd.DataFrame, column: str) -> list[str]:
    """A column's distinct values, in order of appearance."""
    return [str(value) for value in dict.fromkeys(table[column])]
