"""Tables of a TOML file, read key by key, and what one gives a function or dataclass."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from typing import Any, Literal, Never, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from fairfl._support.checks import one_of, shown, whole

T = TypeVar("T")
Default = TypeVar("Default")
REQUIRED = cast(Never, object())
"""The default of a key that must be there."""
MOST = 1 << 63
"""Largest whole number that numpy represents."""
LONGEST = 200
"""Longest label or title, which is drawn and written into tables."""


def numeric(where: str, value: object) -> float:
    """A number that a float can hold, no truth value; an integer stays one where exact."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where} must be a number, got {shown(value)}")
    try:
        return value if isinstance(value, int) and abs(value) <= 1 << 53 else float(value)
    except OverflowError:
        raise ValueError(f"{where} must be a number below 1.8e308, got {shown(value)}") from None


class Section:
    """A table at ``where``; every key must be asked for before ``done``, or it is an error."""

    def __init__(self, table: object, where: str) -> None:
        if not isinstance(table, dict):
            raise ValueError(f"{where} must be a table, got {shown(table)}")
        self.table: dict[str, object] = table
        self.where = where
        self.asked: list[str] = []

    def at(self, key: str) -> str:
        """The place of a key, as errors call it."""
        return f"{self.where}.{key}" if self.where else key

    def raw(self, key: str, default: object = REQUIRED) -> object:
        """The value as it is."""
        self.asked.append(key)
        if key in self.table:
            return self.table[key]
        if default is REQUIRED:
            raise ValueError(f"{self.at(key)} must be given, got nothing")
        return default

    def number(self, key: str, default: Default = REQUIRED) -> float | Default:
        """A number, not a truth value."""
        value = self.raw(key, default)
        return numeric(self.at(key), value) if key in self.table else default

    def whole(self, key: str, default: Default = REQUIRED, low: int = 0) -> int | Default:
        """A whole number >= low, and below 2^63."""
        value = self.raw(key, default)
        return whole(self.at(key), value, low) if key in self.table else default

    def text(
        self, key: str, allowed: tuple[str, ...] = (), default: Default = REQUIRED
    ) -> str | Default:
        """A string, one of ``allowed`` where any are named."""
        value = self.raw(key, default)
        if key not in self.table:
            return default
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

    def wholes(self, key: str, default: list[int]) -> list[int]:
        """A list of distinct whole numbers >= 0, at least one."""
        value = self.raw(key, default)
        if not (
            isinstance(value, list)
            and value
            and all(type(v) is int and 0 <= v < MOST for v in value)
            and len(set(value)) == len(value)
        ):
            raise ValueError(
                f"{self.at(key)} must be a list of distinct whole numbers >= 0, got {shown(value)}"
            )
        return value

    def section(self, key: str, default: object = REQUIRED) -> Section:
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


Special = Callable[[type, Section], object]
"""Makes a parameter of such a class from its TOML table."""


def fields_of(
    section: Section, kind: Callable[..., object], special: Special, excluded: Collection[str] = ()
) -> dict[str, Any]:
    """The parameters of ``kind`` that the table has, as annotated, but for the ``excluded``."""
    hints, values = get_type_hints(kind), {}
    for name, parameter in signature(kind).parameters.items():
        if name in excluded or parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        value = section.raw(name, REQUIRED if parameter.default is Parameter.empty else None)
        if name in section.table:
            hint = hints.get(name)
            at = section.at(name)
            values[name] = value if hint is None else _of(at, value, hint, special)
    return values


def built(
    section: Section, kind: Callable[..., T], special: Special, *first: object, **keywords: object
) -> T:
    """What ``kind`` makes of the ``first`` arguments, the ``keywords``, and the whole table."""
    names = (*list(signature(kind).parameters)[: len(first)], *keywords)
    table_values = section.done(fields_of(section, kind, special, names))
    with section.placing():
        return kind(*first, **keywords, **table_values)


def _of(where: str, value: object, hint: object, special: Special) -> object:
    if get_origin(hint) in (Union, types.UnionType):
        hints = [option for option in get_args(hint) if option is not type(None)]
        words = [
            option for option in hints if get_origin(option) is Literal and isinstance(value, str)
        ]
        hint = float if float in hints else [*words, *hints][0]
    if get_origin(hint) is tuple:
        return _list(where, value, get_args(hint)[0])
    if get_origin(hint) is Literal:
        hint = str
    if hint is float:
        return numeric(where, value)
    if hint is int:
        if type(value) is not int or abs(value) >= MOST:
            limit = " below 2^63" if type(value) is int else ""
            raise ValueError(f"{where} must be a whole number{limit}, got {shown(value)}")
        return value
    for kind, expected in ((bool, "true or false"), (str, "a text")):
        if hint is kind:
            if not isinstance(value, kind):
                raise ValueError(f"{where} must be {expected}, got {shown(value)}")
            return value
    return special(cast(type, hint), Section(value, where))


def _list(where: str, value: object, kind: type) -> tuple[float, ...]:
    if kind is float and isinstance(value, list):
        return tuple(numeric(f"{where}[{k}]", number) for k, number in enumerate(value))
    if not isinstance(value, list) or not all(type(v) is int for v in value):
        raise ValueError(f"{where} must be a list of whole numbers, got {shown(value)}")
    return tuple(value)
