"""Samples from a table of one's own: a score, a label, a group and a client column of a CSV or Parquet file.

What `fairfl frontier people.csv --score s --label y --group a --client site` reads. Whatever is wrong with the file
ends in one `ValueError` or `OSError` that names the column, the row and what is allowed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl.sims.data.encode import one_hot
from fairfl.sims.data.score import cross_fitted_score
from fairfl.sims.data.tabular import UNNAMED, categories, numbers, read_table, require_column

LEVELS = 20
"""A text column of up to so many values is always taken for a category; one of more, only if values repeat."""
MOST_LEVELS = 1_000
"""A text column of more values is never one: each value makes a feature."""


@dataclass(frozen=True, eq=False)
class Samples:
    """The n rows of a table, as `Federation.from_samples` takes them.

    Parameters
    ----------
    score : array of float, shape (n,)
        Finite.
    label : array of int, shape (n,)
        0 or 1.
    label_names : pair of str
        What 0 and 1 were in the file.
    group, client : array of int, shape (n,)
        Codes into `group_names` and `client_names`, which are in sorted order.
    group_names, client_names : tuple of str
    score_source : str
        The column of the score, or how it was made.
    """

    score: NDArray[np.float64]
    label: NDArray[np.int64]
    label_names: tuple[str, str]
    group: NDArray[np.int64]
    group_names: tuple[str, ...]
    client: NDArray[np.int64]
    client_names: tuple[str, ...]
    score_source: str

    def __len__(self) -> int:
        """Return the number of rows, n."""
        return len(self.label)


def read_samples(
    path: str | Path,
    score: str | None = None,
    *,
    label: str,
    group: str,
    client: str | None = None,
    features: Sequence[str] | None = None,
    seed: int = 0,
) -> Samples:
    """Read samples from a file: Parquet by its suffix (.parquet, .pq), else comma-separated with a header.

    Parameters
    ----------
    path : path
    score : str, optional
        The column of the score: any finite number. Without it, the score is made by `cross_fitted_score` from
        `features`.
    label, group : str
        Columns. The label is 0/1, or has two values, of which the later in sorted order becomes 1 ("no" < "yes").
        The group has at least two values.
    client : str, optional
        Column; without it, all rows are of one client, "all".
    features : sequence of str, optional
        Columns to make the score from; by default all but label, group, client and those without a name. Numbers
        enter as they are, texts and truth values one-hot. To let the score depend on the group, name that column.
    seed : int
        Of the folds, where the score is made.

    Raises
    ------
    ValueError
        If the content does not fit.
    OSError
        If the file cannot be read; `FileNotFoundError` if there is none.
    """
    path = Path(path)
    frame = read_table(path)
    roles = {"score": score, "label": label, "group": group, "client": client}
    named = {role: column for role, column in roles.items() if column is not None}
    for role, column in named.items():
        require_column(frame, role, column, path)
    if len(set(named.values())) < len(named):
        raise ValueError(f"score, label, group and client must be different columns, got {named}")
    if score is not None and features is not None:
        raise ValueError(f"features must not be given together with a score, got score={score!r}")

    label_codes, label_names = _label(frame, label)
    group_codes, group_names = categories(frame, group)
    if len(group_names) < 2:
        raise ValueError(f"group column {group!r} must have at least two values, got {group_names} alone")
    if client is None:
        client_codes, client_names = np.zeros(len(frame), dtype=np.int64), ("all",)
    else:
        client_codes, client_names = categories(frame, client)
    if score is not None:
        values, source = numbers(frame, score), f"column {score!r}"
    else:
        columns = _feature_columns(frame, features, named, path)
        design = np.hstack([_design(frame, column, asked=features is not None) for column in columns])
        try:
            values = cross_fitted_score(design, label_codes, seed=seed, group=group_codes, client=client_codes)
        except ValueError as error:
            raise ValueError(f"no score can be made from the {len(frame)} rows of {path.name}: {error}") from error
        source = f"logistic regression on {', '.join(columns)}, 5-fold cross-fitted (seed {seed})"
    return Samples(values, label_codes, label_names, group_codes, group_names, client_codes, client_names, source)


def _label(frame: pd.DataFrame, column: str) -> tuple[NDArray[np.int64], tuple[str, str]]:
    """Return the labels as 0/1, and what these were in the file."""
    codes, names = categories(frame, column)
    if len(names) != 2:
        shown = ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
        raise ValueError(f"label column {column!r} must be 0/1 or have exactly two values, got {len(names)}: {shown}")
    return codes, (names[0], names[1])


def _feature_columns(
    frame: pd.DataFrame, features: Sequence[str] | None, named: dict[str, str], path: Path
) -> list[str]:
    """Return the columns to make the score from."""
    if features is None:  # columns without a name are mostly row numbers
        columns = [name for name in frame.columns if name not in named.values() and not name.startswith(UNNAMED)]
    else:
        columns = [features] if isinstance(features, str) else list(features)
        if named["label"] in columns:
            raise ValueError(f"features must not hold the label column {named['label']!r}")
    for column in columns:
        require_column(frame, "feature", column, path)
    if not columns:
        raise ValueError(f"{path.name} must have a score column or at least one feature column, got neither")
    return columns


def _design(frame: pd.DataFrame, column: str, asked: bool) -> NDArray[np.float64]:
    """Return a feature column as numbers, shape (n, 1), or one-hot, shape (n, levels)."""
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
