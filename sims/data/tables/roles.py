"""The columns of somebody's table by their role: label, group and client of every row, and features of it.

Whatever is wrong ends in one `ValueError` that names the column, the row and what is allowed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl.sims.data.tables.encode import one_hot
from fairfl.sims.data.tables.tabular import UNNAMED, categories, numbers, require_column

LEVELS = 20
"""A text column of up to so many values is always taken for a category; one of more, only if values repeat."""
MOST_LEVELS = 1_000
"""A text column of more values is never one: each value makes a feature."""


@dataclass(frozen=True, eq=False)
class Roles:
    """Label, group and client of the n rows of a table.

    Parameters
    ----------
    columns : dict
        Role to column, of those that were named.
    label : array of int, shape (n,)
        0 or 1.
    label_names : pair of str
        What 0 and 1 were in the file.
    group, client : array of int, shape (n,)
        Codes into `group_names` and `client_names`, which are in sorted order.
    group_names, client_names : tuple of str
    """

    columns: dict[str, str]
    label: NDArray[np.int64]
    label_names: tuple[str, str]
    group: NDArray[np.int64]
    group_names: tuple[str, ...]
    client: NDArray[np.int64]
    client_names: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of rows, n."""
        return len(self.label)


def read_roles(
    frame: pd.DataFrame, path: Path, *, label: str, group: str, client: str | None, score: str | None = None
) -> Roles:
    """Return the roles of a table that was read from `path`; see `read_samples` for what columns may hold.

    Without a client column all rows are of one client, "all".
    """
    named = {"score": score, "label": label, "group": group, "client": client}
    columns = {role: column for role, column in named.items() if column is not None}
    for role, column in columns.items():
        require_column(frame, role, column, path)
    if len(set(columns.values())) < len(columns):
        *first, last = columns
        raise ValueError(f"{', '.join(first)} and {last} must be different columns, got {columns}")
    label_codes, label_names = _label(frame, label)
    group_codes, group_names = categories(frame, group)
    if len(group_names) < 2:
        raise ValueError(f"group column {group!r} must have at least two values, got {group_names} alone")
    if client is None:
        client_codes, client_names = np.zeros(len(frame), dtype=np.int64), ("all",)
    else:
        client_codes, client_names = categories(frame, client)
    return Roles(columns, label_codes, label_names, group_codes, group_names, client_codes, client_names)


def _label(frame: pd.DataFrame, column: str) -> tuple[NDArray[np.int64], tuple[str, str]]:
    """Return the labels as 0/1, and what these were in the file."""
    codes, names = categories(frame, column)
    if len(names) != 2:
        shown = ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
        raise ValueError(f"label column {column!r} must be 0/1 or have exactly two values, got {len(names)}: {shown}")
    return codes, (names[0], names[1])


def features_of(
    frame: pd.DataFrame, features: Sequence[str] | None, roles: Roles, path: Path, *, blind: bool, instead: str = ""
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the features to learn from as numbers, shape (n, d), and the columns that they were made of.

    The columns are those named, or all that have a name and no role, and then the group, unless `blind` or among them:
    the classifiers f(x, a) are told the group, and a probability of y that is not is wrong for one group or the other
    wherever y depends on it. Numbers enter as they are, texts and truth values one-hot. `instead` is what an error says
    might have stood in the features' place.
    """
    group = roles.columns["group"]
    if features is None:  # columns without a name are mostly row numbers
        taken = roles.columns.values()
        columns = [name for name in frame.columns if name not in taken and not name.startswith(UNNAMED)]
    else:
        columns = [features] if isinstance(features, str) else list(features)
        if roles.columns["label"] in columns:
            raise ValueError(f"features must not hold the label column {roles.columns['label']!r}")
    for column in columns:
        require_column(frame, "feature", column, path)
    if not columns:
        got = "neither" if instead else "none"
        raise ValueError(f"{path.name} must have {instead}at least one feature column, got {got}")
    x = [_design(frame, column, features is not None) for column in columns]
    if not blind and group not in columns:
        columns.append(group)
        x.append(one_hot(roles.group, len(roles.group_names)))
    return np.hstack(x), tuple(columns)


def _design(frame: pd.DataFrame, column: str, asked: bool) -> NDArray[np.float64]:
    """Return a feature column as numbers, shape (n, 1), or one-hot, shape (n, levels).

    `asked` says that the columns were named: then one of many values is no reason to take it for an identifier.
    """
    kind = frame[column].dtype
    if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind):
        return numbers(frame, column)[:, None]
    codes, levels = categories(frame, column)
    if len(levels) > MOST_LEVELS or (not asked and len(levels) > max(LEVELS, len(frame) // 2)):
        raise ValueError(
            f"column {column!r} has {len(levels)} different values in {len(frame)} rows and looks like an identifier: "
            f"name the features to use, none with more than {MOST_LEVELS} values unless numeric"
        )
    return one_hot(codes, len(levels))
