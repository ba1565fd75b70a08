"""What a table of TOML gives a function or dataclass: parameters by name and annotated kind."""

import types
from collections.abc import Callable, Collection
from inspect import Parameter, signature
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from fairfl._support.checks import shown
from fairfl.studies.user_runs.toml_section import MOST, REQUIRED, Section, numeric

T = TypeVar("T")
Special = Callable[[type, Section], object]
"""Makes a parameter of such a class from its TOML table."""


def fields_of(
    section: Section, kind: Callable[..., object], special: Special, excluded: Collection[str] = ()
) -> dict[str, Any]:
    """The parameters of ``kind`` that the table has, but for the ``excluded``; those without a
    default must be there. One without an annotation is taken as it is.
    """
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
    """What ``kind`` makes of the ``first`` arguments, the ``keywords``, and the table; every key
    of the table is asked for.
    """
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
