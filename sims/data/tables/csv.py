"""Samples from a table of one's own: a score, a label, a group and a client column of a CSV or Parquet file.

What `fairfl frontier people.csv --score s --label y --group a --client site` reads. Whatever is wrong with the file
ends in one `ValueError` or `OSError` that names the column, the row and what is allowed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.tables.roles import Roles, features_of, read_roles
from fairfl.sims.data.tables.score import cross_fitted_score
from fairfl.sims.data.tables.tabular import numbers, read_table


@dataclass(frozen=True, eq=False)
class Samples(Roles):
    """The n rows of a table, as `Federation.from_samples` takes them.

    Parameters
    ----------
    columns, label, label_names, group, group_names, client, client_names
        See `Roles`.
    score : array of float, shape (n,)
        Finite.
    score_source : str
        The column of the score, or how it was made.
    """

    score: NDArray[np.float64]
    score_source: str


def read_samples(
    path: str | Path,
    score: str | None = None,
    *,
    label: str,
    group: str,
    client: str | None = None,
    features: Sequence[str] | None = None,
    blind: bool = False,
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
        Columns to make the score from; by default all but label, client and those without a name. See
        `fairfl.sims.data.tables.roles.features_of`.
    blind : bool
        The score is not made from the group, unless that is named.
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
    roles = read_roles(frame, path, label=label, group=group, client=client, score=score)
    if score is not None and features is not None:
        raise ValueError(f"features must not be given together with a score, got score={score!r}")
    if score is not None and blind:
        raise ValueError(f"blind must not be given together with a score, which is as it is, got score={score!r}")
    if score is not None:
        values, source = numbers(frame, score), f"column {score!r}"
    else:
        table, columns = features_of(frame, features, roles, path, blind=blind, instead="a score column or ")
        try:
            values = cross_fitted_score(table, roles.label, seed=seed, group=roles.group, client=roles.client)
        except ValueError as error:
            raise ValueError(f"no score can be made from the {len(frame)} rows of {path.name}: {error}") from error
        source = f"logistic regression on {', '.join(columns)}, 5-fold cross-fitted (seed {seed})"
    return Samples(**vars(roles), score=values, score_source=source)
