"""People of one's own: a table with a label, a group, a client and features, split into training and held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.federated.data import PARTS, FederatedData
from fairfl.sims.data.tables.folds import deal
from fairfl.sims.data.tables.roles import features_of, read_roles
from fairfl.sims.data.tables.tabular import read_table

FOLDS = 5
"""One for testing, one for validation, the others for training."""


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A table of people, prepared.

    Attributes
    ----------
    data : FederatedData
        Features scaled to [0, 1] over the training rows.
    group_names, features : tuple of str
        What the groups were called, and the columns that the features were made of.
    positive : str
        What y = 1 was.
    """

    data: FederatedData
    group_names: tuple[str, ...]
    features: tuple[str, ...]
    positive: str


def own_table(
    path: str | Path,
    *,
    label: str,
    group: str,
    client: str | None = None,
    features: Sequence[str] | None = None,
    blind: bool = False,
    seed: int = 0,
) -> OwnTable:
    """Read people from a file: Parquet by its suffix (.parquet, .pq), else comma-separated with a header.

    A fifth of every client's people is for testing and a fifth for validation, dealt evenly within groups and labels,
    to within one. Features are those of ``fairfl.sims.data.tables.roles.features_of``, numbers as
    (x - min) / (max - min) over the training rows.

    Parameters
    ----------
    path, label, group, client, features : see :func:`fairfl.sims.data.tables.csv.read_samples`
        ``features`` are by default all columns with a name and no role.
    blind : bool
        The group is no feature, unless it is named.
    seed : int
        Of the split.

    Raises
    ------
    ValueError
        What does not fit; too few people of a group, or of a label, to train, choose and test on.
    OSError
        If the file cannot be read; ``FileNotFoundError`` if there is none.
    """
    path = Path(path)
    frame = read_table(path)
    roles = read_roles(frame, path, label=label, group=group, client=client)
    x, columns = features_of(frame, features, roles, path, blind=blind)
    part = _parts(roles.client, roles.group, roles.label, seed)
    for role, codes, names in (("group", roles.group, roles.group_names), ("label", roles.label, roles.label_names)):
        _everywhere(f"{role} column {roles.columns[role]!r}", codes, names, part)
    data = FederatedData(
        path.stem, _scaled(x, part == 0), roles.label, roles.client, len(roles.client_names), part, roles.group,
        roles.client_names, f"{len(frame)} rows of {path.name}",
    )  # fmt: skip
    return OwnTable(data, roles.group_names, columns, roles.label_names[1])


def _parts(
    client: NDArray[np.int64], group: NDArray[np.int64], label: NDArray[np.int64], seed: int
) -> NDArray[np.int8]:
    """0 train, 1 validation, 2 test; the people of a client that has nobody left to train on are all trained on."""
    fold = deal({"client": client, "group": group, "label": label}, FOLDS, seed)
    part = np.where(fold == 0, 2, np.where(fold == 1, 1, 0)).astype(np.int8)
    left = np.bincount(client[part == 0], minlength=int(client.max()) + 1)
    part[left[client] == 0] = 0
    return part


def _everywhere(what: str, codes: NDArray[np.int64], names: Sequence[str], part: NDArray[np.int8]) -> None:
    for code, name in enumerate(names):
        for number, called in enumerate(PARTS):
            if not ((codes == code) & (part == number)).any():
                count = int((codes == code).sum())
                raise ValueError(
                    f"{what} must have people enough of every value to train, choose and test on, some {2 * FOLDS} or "
                    f"more: of {name!r} it has {count}, none of them for {'training' if number == 0 else called}"
                )


def _scaled(x: NDArray[np.float64], train: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(x - min) / (max - min) of each column over its training rows; 0 where it is constant there."""
    low, high = x[train].min(axis=0), x[train].max(axis=0)
    varies = high > low
    return np.where(varies, (x - low) / np.where(varies, high - low, 1.0), 0.0)
