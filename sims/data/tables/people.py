"""The reader of a table of people: label, group, client, and features or a score.

A fault of the file ends in one `ValueError` or `OSError` that names column, row and allowed values.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl._support.checks import listed, person_weights
from fairfl.sims.data.fetch import note_file
from fairfl.sims.data.table_file import PLAIN, Form, Roles, Table, read_table
from fairfl.sims.data.tables.table import Dataset
from fairfl.theory.populations.notions import MOST_GROUPS

LEVELS = 20
"""A text column with more values is a category only if values repeat."""
MOST_LEVELS = 1_000
"""A text column with more values is refused: each value would make a feature."""
DATE = re.compile(r"(?:(\d{4})[-./](\d\d?)[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{4})(?:[ T].*)?")
"""A date, with a time or without; year and month where these are first."""
Columns = tuple[str, ...]
"""Names of columns."""
Codes = tuple[NDArray[np.int64], tuple[str, ...]]
"""A category of each row, shape (n,), and the categories' names."""
Block = tuple[Columns, NDArray[np.float64]]
"""Names of features, length d, and their values, shape (n, d)."""


def read_people(
    source: Any,
    *,
    label: str | None,
    group: str | Sequence[str],
    client: str | None = None,
    weight: str | None = None,
    score: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    blind: bool = False,
    categorical: bool = False,
    numbers: Roles | None = None,
    by: str | None = None,
    form: Form = PLAIN,
) -> Dataset:
    """Read people from a file: Parquet by its suffix (.parquet, .pq), else text with a header; or
    from a frame of pandas, Polars or Arrow.

    Parameters
    ----------
    label, group : columns. The label has two values; `form` says which becomes 1; with None all
        rows have 0. The group has at least two values; of several columns a group is a combination
        of values that somebody has, named "Black & Female".
    client : column; without it, all rows are of one client, "all".
    weight : column of positive numbers; without it, all rows count alike.
    score : columns of finite numbers, which are then the only features.
    features : columns: numbers enter unchanged, texts and truth values one-hot. By default all that
        have a name and no role; dates and free text among them are an error. Columns of one value
        are left out. The group is added unless it is among them or `blind`: P(y = 1) without it is
        wrong for some group wherever y depends on the group.
    categorical : the score is a name, or a number without an order: its only feature is the rank of
        the value by its share of y = 1.
    numbers : by role, columns of predictions, which are features after the score, or alone.
    by : a column with parts of the people, which may have a role as well; dates are of months.
    form : how a text file is written, which value of the label is 1, and whether rows with a
        missing cell are dropped.

    Returns
    -------
    Dataset
        Without test rows; its `columns` are those of each role, its `note` says which rows were
        left out, and `score_names` are the values of a categorical score.

    Raises
    ------
    ValueError : if the content does not fit.
    OSError : if the file cannot be read; `FileNotFoundError` if there is none.
    """
    groups = (group,) if isinstance(group, str) else tuple(group)
    if not groups:
        raise ValueError("group must name at least one column, got none")
    scores = () if score is None else (score,) if isinstance(score, str) else tuple(score)
    by_role = {"score": scores, "label": (label,), "group": groups, "client": (client,)}
    by_role |= {"weight": (weight,)}
    roles = {role: columns for role, columns in by_role.items() if columns not in ((), (None,))}
    predicted = {role: tuple(columns) for role, columns in (numbers or {}).items()}
    chosen = _chosen_features(scores, label or "", features, blind=blind, categorical=categorical)
    extra = () if predicted else chosen
    extra = extra if by is None or extra is None else [*extra, by]
    table = read_table(source, form, roles | predicted, extra)
    note_file(table.path)
    one_category = np.zeros(len(table), np.int64), ("all",)
    y, label_names = (one_category[0], ("0", "1")) if label is None else table.labels(label)
    parts = {column: table.categories(column) for column in groups}
    a, group_names = _groups(groups, [*parts.values()])
    i, client_names = one_category if client is None else table.categories(client)
    by_codes, by_names = one_category if by is None else _months(*table.categories(by))
    weights = None
    if weight is not None:
        weights = person_weights(f"column {weight!r}", table.numbers(weight))
    score_names, note = (), ""
    if scores or predicted:
        blocks, score_names = _scores(table, scores, predicted, y if categorical else None)
        columns = [name for names, _ in blocks for name in names]
    else:
        taken = {*chain(*roles.values(), [by])}
        columns, blocks, note = _learned(table, chosen, taken, {} if blind else parts)
    return Dataset(
        name=table.path.stem,
        features=np.hstack([values for _, values in blocks]),
        feature_names=tuple(name for names, _ in blocks for name in names),
        label=y,
        group=a,
        group_names=group_names,
        client=i,
        client_names=client_names,
        is_test=np.zeros(len(table), bool),
        note=" ".join(filter(None, [table.dropped, note])),
        label_names=label_names,
        columns=roles | {"features": tuple(columns)},
        score_names=score_names,
        by=by_codes,
        by_names=by_names,
        weight=weights,
    )


def _chosen_features(
    scores: Columns, label: str, features: Sequence[str] | None, *, blind: bool, categorical: bool
) -> Sequence[str] | None:
    """The features to read beside the roles' columns, each once; None: all."""
    if categorical and len(scores) != 1:
        raise ValueError(f"categorical goes with one score, got {listed(scores) or 'score=None'}")
    if not scores:
        if features is None:
            return None
        columns = list(dict.fromkeys([features] if isinstance(features, str) else features))
        if label in columns:
            raise ValueError(f"features must not hold the label column {label!r}")
        return columns
    for name, is_given in (("features", features is not None), ("blind", blind)):
        if is_given:
            raise ValueError(
                f"{name} must not be given together with a score, which is as it is, got "
                f"score={scores[0] if len(scores) == 1 else scores!r}"
            )
    return ()


def _scores(
    table: Table, scores: Columns, predicted: Roles, label: NDArray[np.int64] | None
) -> tuple[list[Block], Columns]:
    """Scores and predictions as features; of a categorical score, its rank and its values."""
    numeric = scores if label is None else ()
    blocks = [_numeric(table, name) for name in chain(numeric, *predicted.values())]
    if label is None or not scores:
        return blocks, ()
    codes, names = table.categories(scores[0])
    order = np.argsort(np.bincount(codes, label) / np.bincount(codes), kind="stable")
    rank = np.argsort(order)[codes].astype(np.float64)
    return [(scores, rank[:, None]), *blocks], tuple(names[k] for k in order)


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
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"group column {', '.join(map(repr, columns))} must have at most {MOST_GROUPS} values, "
            f"got {len(names)}"
        )
    return codes, names


def _learned(
    table: Table, chosen: Sequence[str] | None, taken: set[str | None], groups: dict[str, Codes]
) -> tuple[list[str], list[Block], str]:
    """The columns to learn from, by default all but the `taken` ones; their features, the groups'
    last; and a note on columns of one value.
    """
    columns = [name for name in table.columns if name not in taken] if chosen is None else [*chosen]
    constant = [name for name in columns if len(table.columns[name][0]) == 1]
    note = f"Left out of the features, of one value: {listed(constant)}." if constant else ""
    columns = [name for name in columns if name not in constant]
    if not columns:
        note = f" ({note})" * bool(note)
        raise ValueError(f"{table.path.name} must have at least one feature column, got none{note}")
    doubts = {name: _doubt(table, name, is_chosen=chosen is not None) for name in columns}
    if words := "; ".join(filter(None, doubts.values())):
        certain = ", ".join(name for name, doubt in doubts.items() if not doubt) or "none as it is"
        raise ValueError(
            f"{words}: name the features by --feature ({certain}), or make numbers of them"
        )
    blocks = [
        _numeric(table, name)
        if table.is_numeric(name)
        else _indicators(name, *table.categories(name))
        for name in columns
    ]
    added = {column: part for column, part in groups.items() if column not in columns}
    blocks += [_indicators(column, *part) for column, part in added.items()]
    return [*columns, *added], blocks, note


def _doubt(table: Table, column: str, *, is_chosen: bool) -> str:
    """Why a column that the caller did not choose should not be one-hot, or has too many values."""
    if table.is_numeric(column):
        return ""
    codes, names = table.categories(column)
    if not is_chosen and all(map(DATE.fullmatch, names)):
        return f"column {column!r} holds dates, such as {names[0]!r}"
    count, once = len(names), int((np.bincount(codes) == 1).sum())
    is_text = count > LEVELS and max(count / len(table), once / count) > 0.5
    words = f"column {column!r} has {count} different values in {len(table)} rows, {once} of them "
    words += f"once, and looks like an identifier or free text (at most {MOST_LEVELS} if named)"
    return words if count > MOST_LEVELS or (is_text and not is_chosen) else ""


def _numeric(table: Table, column: str) -> Block:
    return (column,), table.numbers(column)[:, None]


def _indicators(column: str, codes: NDArray[np.int64], levels: Columns) -> Block:
    return tuple(f"{column}={level}" for level in levels), one_hot(codes, len(levels))


def _months(codes: NDArray[np.int64], names: Columns) -> Codes:
    """Of dates that begin with the year their months, such as 2024-03; other names as they are."""
    dates = [DATE.fullmatch(name) for name in names]
    if not all(date and date[1] for date in dates):
        return codes, names
    months = [f"{date[1]}-{date[2]:0>2}" for date in dates if date]
    values, month = np.unique(months, return_inverse=True)
    return month[codes], tuple(values.tolist())


def one_hot(codes: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    """Return the indicators of codes in 0..count-1, shape (n, count); a row of code -1 is all 0."""
    hot = np.zeros((len(codes), count))
    present = np.flatnonzero(codes >= 0)
    hot[present, codes[present]] = 1.0
    return hot
