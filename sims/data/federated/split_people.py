"""A table's people as the simulator's data: split by rows, features scaled."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl.sims.data.federated.data import PARTS, FederatedData
from fairfl.sims.data.tables.encode import scaled
from fairfl.sims.data.tables.folds import deal
from fairfl.sims.data.tables.table import Dataset

FOLDS = 5
"""Folds: one for testing, one for validation, the others for training."""


def split_people(people: Dataset, seed: int = 0) -> FederatedData:
    """People with their parts; features as (x - min) / (max - min) over the training rows.

    Of every client a fifth is for testing and a fifth for validation, dealt evenly within groups
    and labels. ValueError: too few people of a group, or of a label, to train, choose and test on.
    """
    part = _parts(people.client, people.group, people.label, seed)
    for role, codes, names in (
        ("group", people.group, people.group_names),
        ("label", people.label, people.label_names),
    ):
        column = f" column {people.columns[role][0]!r}" if role in people.columns else ""
        _check_parts(f"{role}{column}", codes, names, part)
    return replace(federated(people, part), x=scaled(people.features, part == 0))


def federated(people: Dataset, part: ArrayLike) -> FederatedData:
    """People with their parts (n,), codes of ``PARTS``; features as they are."""
    return FederatedData(
        people.name,
        x=people.features,
        y=people.label,
        owner=people.client,
        n_clients=len(people.client_names),
        part=np.asarray(part, np.int8),
        group=people.group,
        client_names=people.client_names,
        note=people.note,
    )


def _parts(
    client: NDArray[np.int64], group: NDArray[np.int64], label: NDArray[np.int64], seed: int
) -> NDArray[np.int8]:
    """0 train, 1 validation, 2 test; a client with nobody left to train on trains on all."""
    fold = deal({"client": client, "group": group, "label": label}, FOLDS, seed)
    part = np.where(fold == 0, 2, np.where(fold == 1, 1, 0)).astype(np.int8)
    train_counts = np.bincount(client[part == 0], minlength=int(client.max()) + 1)
    part[train_counts[client] == 0] = 0
    return part


def _check_parts(
    column: str, codes: NDArray[np.int64], names: Sequence[str], part: NDArray[np.int8]
) -> None:
    for code, name in enumerate(names):
        for number, part_name in enumerate(PARTS):
            if not ((codes == code) & (part == number)).any():
                count = int((codes == code).sum())
                raise ValueError(
                    f"{column} must have people enough of every value to train, choose and test "
                    f"on, some {2 * FOLDS} or more: of {name!r} it has {count}, none of them for "
                    f"{'training' if number == 0 else part_name}"
                )
