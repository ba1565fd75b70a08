"""The reader of a table of people: label, group, client, and features or a score, from a CSV or
Parquet file.

`fairfl frontier people.csv` and `fairfl simulate people.csv` both read with it, and so learn from
the same features. Whatever is wrong with the file ends in one `ValueError` or `OSError` that names
the column, row and what is allowed.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl.sims.data.tables.csv_file import (
    UNNAMED,
    categories,
    numbers,
    read_table,
    require_column,
)
from fairfl.sims.data.tables.encode import one_hot
from fairfl.sims.data.tables.table import Dataset
from fairfl.theory.populations.calibration import binary

LEVELS = 20
"""A text column of so many values is always a category; of more, only if values repeat."""
MOST_LEVELS = 1_000
"""A text column of more values is never one: each value makes a feature."""

Columns = tuple[str, ...]
"""Names of columns."""
Codes = tuple[NDArray[np.int64], tuple[str, ...]]
"""A category of each row, shape (n,), and the categories' names."""
Block = tuple[Columns, NDArray[np.float64]]
"""Names of features, length d, and their values, shape (n, d)."""


def read_people(
    path: str | Path,
    *,
    label: str,
    group: str | Sequence[str],
    client: str | None = None,
    score: str | None = None,
    features: Sequence[str] | None = None,
    blind: bool = False,
) -> Dataset:
    """Read people from a file: Parquet by its suffix (.parquet, .pq), else comma-separated with a
    header.

    Parameters
    ----------
    path : path
    label, group : str
        Columns. The label is 0/1, or has two values, of which the later in sorted order becomes 1
        ("no" < "yes"). The group has at least two values; of several columns a group is a
        combination of values that somebody has, named "Black & Female".
    client : str, optional
        Column; without it, all rows are of one client, "all".
    score : str, optional
        A column of finite numbers, which is then the only feature.
    features : sequence of str, optional
        Columns: numbers enter as they are, texts and truth values one-hot. By default all that have
        a name and no role. In either case the group is added, unless `blind` or among them: the
        classifiers f(x, a) are told the group, and a probability of y that is not is wrong for one
        group or the other wherever y depends on it.
    blind : bool
        Do not add the group.

    Returns
    -------
    Dataset
        Without test rows; its `columns` are those of each role.

    Raises
    ------
    ValueError
        If the content does not fit.
    OSError
        If the file cannot be read; `FileNotFoundError` if there is none.
    """
    path = Path(path)
    frame = read_table(path)
    groups = (group,) if isinstance(group, str) else tuple(group)
    named = {"score": (score,), "label": (label,), "group": groups, "client": (client,)}
    roles = {role: columns for role, columns in named.items() if columns != (None,)}
    _require_roles(frame, roles, path)
    label_codes, label_names = _label(frame, label)
    parts = [categories(frame, column) for column in groups]
    group_codes, group_names = _groups(groups, parts)
    n = len(frame)
    client_codes, client_names = (
        (np.zeros(n, int), ("all",)) if client is None else categories(frame, client)
    )
    seen = {} if blind else dict(zip(groups, parts, strict=True))
    if score is None:
        columns, blocks = _learned(frame, features, roles, seen, path)
    else:
        columns, blocks = _scored(frame, score, features, blind=blind)
    return Dataset(
        name=path.stem,
        features=np.hstack([values for _, values in blocks]),
        feature_names=tuple(name for names, _ in blocks for name in names),
        label=label_codes,
        group=group_codes,
        group_names=group_names,
        client=client_codes,
        client_names=client_names,
        is_test=np.zeros(n, bool),
        note=f"{n} rows of {path.name}",
        label_names=label_names,
        columns=roles | {"features": tuple(columns)},
    )


def _require_roles(frame: pd.DataFrame, roles: dict[str, Columns], path: Path) -> None:
    """ValueError where a role's columns are none, not in the table, or also another role's."""
    if not roles["group"]:
        raise ValueError("group must name at least one column, got none")
    for role, columns in roles.items():
        for column in columns:
            require_column(frame, role, column, path)
    taken = [column for columns in roles.values() for column in columns]
    if len(set(taken)) < len(taken):
        *first, last = roles
        given = {role: ", ".join(columns) for role, columns in roles.items()}
        raise ValueError(f"{', '.join(first)} and {last} must be different columns, got {given}")


def _label(frame: pd.DataFrame, column: str) -> tuple[NDArray[np.int64], tuple[str, str]]:
    """Return the labels as 0/1, and what these were in the file."""
    codes, names = categories(frame, column)
    return binary(f"label column {column!r}", names, codes), (names[0], names[1])


def _groups(columns: Columns, parts: Sequence[Codes]) -> Codes:
    """Codes and names of the groups, for several columns of the combinations that occur."""
    codes, names = parts[0]
    if len(parts) > 1:
        rows, codes = np.unique(
            np.stack([code for code, _ in parts], axis=1), axis=0, return_inverse=True
        )
        codes = codes.reshape(-1).astype(np.int64)
        names = tuple(
            " & ".join(levels[k] for (_, levels), k in zip(parts, row, strict=True)) for row in rows
        )
    if len(names) < 2:
        raise ValueError(
            f"group column {', '.join(map(repr, columns))} must have at least two values, got "
            f"{names} alone"
        )
    return codes, names


def _scored(
    frame: pd.DataFrame, score: str, features: Sequence[str] | None, *, blind: bool
) -> tuple[list[str], list[Block]]:
    """Return the column of the score, alone, and its values."""
    if features is not None:
        raise ValueError(f"features must not be given together with a score, got score={score!r}")
    if blind:
        raise ValueError(
            f"blind must not be given together with a score, which is as it is, got score={score!r}"
        )
    return [score], [_one(frame, score)]


def _learned(
    frame: pd.DataFrame,
    named: Sequence[str] | None,
    roles: dict[str, Columns],
    groups: dict[str, Codes],
    path: Path,
) -> tuple[list[str], list[Block]]:
    """Return the columns to learn from, and their features; the groups' are last."""
    if named is None:  # columns without a name are mostly row numbers
        taken = {column for columns in roles.values() for column in columns}
        columns = [
            name for name in frame.columns if name not in taken and not name.startswith(UNNAMED)
        ]
    else:
        columns = list(dict.fromkeys([named] if isinstance(named, str) else named))
        if roles["label"][0] in columns:
            raise ValueError(f"features must not hold the label column {roles['label'][0]!r}")
    for column in columns:
        require_column(frame, "feature", column, path)
    if not columns:
        raise ValueError(f"{path.name} must have at least one feature column, got none")
    blocks = [_encoded(frame, column, asked=named is not None) for column in columns]
    added = {column: part for column, part in groups.items() if column not in columns}
    blocks += [_indicators(column, *part) for column, part in added.items()]
    return [*columns, *added], blocks


def _one(frame: pd.DataFrame, column: str) -> Block:
    return (column,), numbers(frame, column)[:, None]


def _indicators(column: str, codes: NDArray[np.int64], levels: Columns) -> Block:
    return tuple(f"{column}={level}" for level in levels), one_hot(codes, len(levels))


def _encoded(frame: pd.DataFrame, column: str, *, asked: bool) -> Block:
    """Return a column as features: itself where it holds numbers, else one-hot.

    `asked` says that the columns were named: then one of many values is no reason to take it for an
    identifier.
    """
    kind = frame[column].dtype
    if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind):
        return _one(frame, column)
    codes, levels = categories(frame, column)
    if len(levels) > MOST_LEVELS or (not asked and len(levels) > max(LEVELS, len(frame) // 2)):
        raise ValueError(
            f"column {column!r} has {len(levels)} different values in {len(frame)} rows and "
            "looks like an identifier: name the features to use, none with more than "
            f"{MOST_LEVELS} values unless numeric"
        )
    return _indicators(column, codes, levels)
