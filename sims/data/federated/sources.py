"""Federated data sets by name. A file in this folder with a ``@register`` adds one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fairfl._support.checks import instance, one_of
from fairfl._support.registry import Registry
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.fetch import Folder, Progress

Loader = Callable[[Folder, Progress | None], FederatedData]


@dataclass(frozen=True)
class Source:
    """A loader with its title."""

    title: str
    load: Loader


SOURCES: Registry[Source] = Registry("data", "fairfl.sims.data.federated")
"""Every registered source, by name."""


def register(name: str, title: str) -> Callable[[Loader], Loader]:
    """Add a loader ``load(folder, progress)``; ValueError if the name is taken."""
    return SOURCES.register(name, partial(Source, title))


def load_federated(
    name: str, folder: Folder = None, progress: Progress | None = None
) -> FederatedData:
    """A data set from ``folder``, else ``FAIRFL_DATA``, else the cache, else its public source.

    Images come as one client: give them clients with ``FederatedData.assigned`` and a partition.
    ValueError if ``name`` is unknown, or a file is not what it should be. DataUnavailable if a file
    is not on this machine and cannot be downloaded.
    """
    data = SOURCES[one_of("name", name, tuple(SOURCES))].load(folder, progress)
    return instance(f"data {name}", data, FederatedData)
