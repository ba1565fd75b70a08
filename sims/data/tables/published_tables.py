"""The public tables of people by name. A file in this folder that calls `register` adds one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fairfl._support.checks import one_of, whole
from fairfl._support.registry import Registry
from fairfl.sims.data.fetch import Folder, Progress
from fairfl.sims.data.tables.table import Dataset

FEDFB_SEED = 1
"""The `seed` of FedFB's published code: it gives the same rows to the same clients."""
Build = Callable[[Folder, str, int, Progress | None], Dataset]


@dataclass(frozen=True)
class PublishedTable:
    """Values of `groups` besides "two" and "all", and `build(folder, groups, seed, progress)`."""

    groupings: tuple[str, ...]
    build: Build


DATASETS: Registry[PublishedTable] = Registry("data", "fairfl.sims.data.tables")
"""Every registered data set, by name."""


def register(name: str, *groupings: str) -> Callable[[Build], Build]:
    """Add a data set by its builder; ValueError if the name is taken."""
    return DATASETS.register(name, partial(PublishedTable, groupings))


def load(
    name: str,
    folder: Folder = None,
    groups: str = "two",
    seed: int = 0,
    progress: Progress | None = None,
) -> Dataset:
    """A data set, prepared and split among clients as in FedFB.

    Parameters
    ----------
    name : one of `DATASETS`.
    folder : the only folder to search for the files, see `fairfl.sims.data.fetch`.
    groups : "all" for the data set's own groups, "two" for the two that it is usually studied with,
        or one of the data set's `groupings`.
    seed : draws the clients (and Bank's test rows), 0 to 2**32 - 1. `FEDFB_SEED` gives FedFB's own
        draw.

    Raises
    ------
    ValueError : if `name`, `groups` or `seed` is not allowed, or the file is not what it should be.
    DataUnavailable : if the file is not found and cannot be downloaded (an `OSError`).
    """
    table = DATASETS[one_of("name", name, tuple(DATASETS))]
    one_of(f"groups of {name!r}", groups, ("two", "all", *table.groupings))
    return table.build(folder, groups, whole("seed", seed, 0, 2**32 - 1), progress)
