"""Tables of a TOML file, read key by key: errors name a missing, wrong or unknown key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from fairfl._support.checks import one_of, shown, whole

T = TypeVar("T")
REQUIRED: Any = object()
MOST = 1 << 63
"""Largest whole number that numpy represents."""
LONGEST = 200
"""Longest label or title, which is drawn and written into tables."""


def numeric(where: str, value: Any) -> Any:
    """A number that a float can hold, no truth value; an integer stays one where exact."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where} must be a number, got {shown(value)}")
    try:
        return value if isinstance(value, int) and abs(value) <= 1 << 53 else float(value)
    except OverflowError:
        raise ValueError(f"{where} must be a number below 1.8e308, got {shown(value)}") from None


class Section:
    """A table at ``where``; every key must be asked for before ``done``, or it is an error."""

    def __init__(self, table: Any, where: str) -> None:
        if not isinstance(table, dict):
            raise ValueError(f"{where} must be a table, got {shown(table)}")
        self.table: dict[str, Any] = table
        self.where = where
        self.asked: list[str] = []

    def at(self, key: str) -> str:
        """The place of a key, as errors call it."""
        return f"{self.where}.{key}" if self.where else key

    def raw(self, key: str, default: Any = REQUIRED) -> Any:
        """The value as it is."""
        self.asked.append(key)
        if key in self.table:
            return self.table[key]
        if default is REQUIRED:
            raise ValueError(f"{self.at(key)} must be given, got nothing")
        return default

    def number(self, key: str, default: Any = REQUIRED) -> Any:
        """A number, not a truth value."""
        value = self.raw(key, default)
        return numeric(self.at(key), value) if key in self.table else value

    def whole(self, key: str, default: Any = REQUIRED, low: int = 0) -> Any:
        """A whole number >= low, and below 2^63."""
        value = self.raw(key, default)
        return whole(self.at(key), value, low) if key in self.table else value

    def text(self, key: str, allowed: tuple[str, ...] = (), default: Any = REQUIRED) -> Any:
        """A string, one of ``allowed`` where any are named."""
        value = self.raw(key, default)
        if key not in self.table:
            return value
        if allowed:
            return one_of(self.at(key), value, allowed)
        if not (isinstance(value, str) and value.isprintable() and len(value) <= LONGEST):
            raise ValueError(
                f"{self.at(key)} must be one printable line of at most {LONGEST} characters, "
                f"got {shown(value)}"
            )
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.raw(key, default)
        if not isinstance(value, bool):
            raise ValueError(f"{self.at(key)} must be true or false, got {shown(value)}")
        return value

    def wholes(
        self, key: str, default: Any = REQUIRED, low: int = 0, distinct: bool = True
    ) -> list[int]:
        """A list of whole numbers >= low, at least one, ``distinct`` or not."""
        value = self.raw(key, default)
        fine = (
            isinstance(value, list)
            and value
            and all(type(v) is int and low <= v < MOST for v in value)
        )
        if not fine or (distinct and len(set(value)) < len(value)):
            kind = "distinct whole numbers" if distinct else "whole numbers"
            raise ValueError(
                f"{self.at(key)} must be a list of {kind} >= {low}, got {shown(value)}"
            )
        return value

    def section(self, key: str, default: Any = REQUIRED) -> Section:
        """A table within this one."""
        return Section(self.raw(key, default), self.at(key))

    @contextmanager
    def placing(self) -> Iterator[None]:
        """While the table's values are used, errors begin with a key's place."""
        try:
            yield
        except ValueError as error:
            first = re.match(r"\w*", str(error))
            if first and first[0] in (*self.table, *self.asked):
                raise ValueError(self.at(str(error))) from error
            raise

    def done(self, value: T) -> T:
        """``value``; ValueError if a key of the section was not read."""
        unknown = [key for key in self.table if key not in self.asked]
        if unknown:
            allowed = ", ".join(dict.fromkeys(self.asked)) or "nothing"
            raise ValueError(f"{self.at(unknown[0])} is unknown; allowed here: {allowed}")
        return value
