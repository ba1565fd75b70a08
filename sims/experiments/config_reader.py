"""Tables of a TOML file, read key by key: what is missing, of the wrong kind or unknown is named with its place."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")
REQUIRED: Any = object()


class Section:
    """A table at ``where``; every key must be asked for before ``done``, or it is an error."""

    def __init__(self, table: Any, where: str) -> None:
        if not isinstance(table, dict):
            raise ValueError(f"{where} must be a table, got {table!r}")
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
        if key in self.table and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise ValueError(f"{self.at(key)} must be a number, got {value!r}")
        return value

    def whole(self, key: str, default: Any = REQUIRED, low: int = 0) -> Any:
        """A whole number >= low."""
        value = self.raw(key, default)
        if key in self.table and (isinstance(value, bool) or not isinstance(value, int) or value < low):
            raise ValueError(f"{self.at(key)} must be a whole number >= {low}, got {value!r}")
        return value

    def text(self, key: str, allowed: tuple[str, ...] = (), default: Any = REQUIRED) -> Any:
        """A string, one of ``allowed`` where any are named."""
        value = self.raw(key, default)
        if key in self.table and not isinstance(value, str):
            raise ValueError(f"{self.at(key)} must be a text, got {value!r}")
        if key in self.table and allowed and value not in allowed:
            raise ValueError(f"{self.at(key)} must be one of {', '.join(allowed)}, got {value!r}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.raw(key, default)
        if not isinstance(value, bool):
            raise ValueError(f"{self.at(key)} must be true or false, got {value!r}")
        return value

    def wholes(self, key: str, default: Any = REQUIRED, low: int = 0) -> list[int]:
        """A list of distinct whole numbers >= low, at least one."""
        value = self.raw(key, default)
        fine = isinstance(value, list) and value and all(type(v) is int and v >= low for v in value)
        if not fine or len(set(value)) < len(value):
            raise ValueError(f"{self.at(key)} must be a list of distinct whole numbers >= {low}, got {value!r}")
        return value

    def section(self, key: str, default: Any = REQUIRED) -> Section:
        """A table within this one."""
        return Section(self.raw(key, default), self.at(key))

    def done(self, made: T) -> T:
        """``made``, where no key is left over."""
        unknown = [key for key in self.table if key not in self.asked]
        if unknown:
            allowed = ", ".join(dict.fromkeys(self.asked)) or "nothing"
            raise ValueError(f"{self.at(unknown[0])} is unknown; allowed here: {allowed}")
        return made
