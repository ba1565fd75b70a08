"""Data sets by name: a new file in a registry's folder that registers one adds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from fairfl._support.checks import instance
from fairfl._support.own_parts import own_modules

E = TypeVar("E")


class Registry(Mapping[str, E]):
    """Entries by name; the first access imports the modules of ``package``, which add theirs."""

    def __init__(self, package: str) -> None:
        self._package, self._entries, self._complete = package, {}, False

    def register(self, name: str, entry: E) -> None:
        """Add an entry. A name that is taken raises `ValueError`."""
        if instance("name", name, str) in self._entries:
            raise ValueError(f"name must be new, got {name!r}, registered already")
        self._entries[name] = entry

    def _all(self) -> dict[str, E]:
        if not self._complete:
            self._complete = True  # set first: the modules imported below may read the registry
            for module in iter_modules(import_module(self._package).__path__):
                import_module(f"{self._package}.{module.name}")
            own_modules("data")
        return self._entries

    def __getitem__(self, name: str) -> E:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())
