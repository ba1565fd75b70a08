"""A dataclass from a table of TOML: its fields by name, of the kinds that their annotations say."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from fairfl._support.checks import shown
from fairfl.studies.own.config_reader import REQUIRED, Section, numeric

Special = Callable[[type, Section], Any]
"""What makes a field of such a class of its table; None where it is no special one."""


def fields_of(section: Section, kind: Any, special: Special) -> dict[str, Any]:
    """The fields of ``kind`` that the table has; those without a default must be there."""
    hints, given = get_type_hints(kind), {}
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        if not field.init:
            continue
        needed = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        value = section.raw(field.name, REQUIRED if needed else None)
        if field.name in section.table:
            given[field.name] = _of(section.at(field.name), value, hints[field.name], special)
    return given


def built(section: Section, kind: Any, special: Special) -> Any:
    """An instance of ``kind``; every key of the table is one of its fields."""
    given = section.done(fields_of(section, kind, special))
    with section.placing():
        return kind(**given)


def _of(where: str, value: Any, hint: Any, special: Special) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        hints = [one for one in get_args(hint) if one is not type(None)]
        words = [one for one in hints if get_origin(one) is Literal and isinstance(value, str)]
        hint = float if float in hints else [*words, *hints][0]
    if get_origin(hint) is tuple:
        return _list(where, value, get_args(hint)[0])
    if get_origin(hint) is Literal:
        hint = str
    if hint is float:
        return numeric(where, value)
    if hint is int:
        if type(value) is not int:
            raise ValueError(f"{where} must be a whole number, got {shown(value)}")
        return value
    for wanted, told in ((bool, "true or false"), (str, "a text")):
        if hint is wanted:
            if not isinstance(value, wanted):
                raise ValueError(f"{where} must be {told}, got {shown(value)}")
            return value
    return special(hint, Section(value, where))


def _list(where: str, value: Any, kind: type) -> tuple[Any, ...]:
    if kind is float and isinstance(value, list):
        return tuple(numeric(f"{where}[{k}]", one) for k, one in enumerate(value))
    if not isinstance(value, list) or not all(type(v) is int for v in value):
        raise ValueError(f"{where} must be a list of whole numbers, got {shown(value)}")
    return tuple(value)
