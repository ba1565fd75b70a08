"""Numbers kept in JSON without rounding: fractions "p/q" and floats, and balls made from either."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

Instance = dict[str, Any]
"""The numbers of a statement by name: JSON data, with fractions for "p/q"."""
Exact = int | float | str | Fraction | fmpq | arb
"""What a ball is made from: a float is its double, a string the number that it spells."""
_FRACTION = re.compile(r"-?\d+/[1-9]\d*\Z")


def encode(value: object) -> Any:
    """``value`` as JSON data: Fraction -> "p/q", numpy scalars and arrays -> numbers and lists,
    tuples -> lists. ValueError: a value that is none of these (numbers, strings, None, lists and
    dicts with string keys of them).
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ValueError(f"keys of an instance must be strings, got {list(value)!r}")
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return encode(value.tolist())
    raise ValueError(
        f"an instance must be numbers, strings, lists and dicts, got {type(value).__name__}: "
        f"{value!r:.60}"
    )


def decode(value: object) -> Any:
    """The inverse of :func:`encode`; tuples and arrays come back as lists."""
    if isinstance(value, str) and _FRACTION.match(value):
        return Fraction(value)
    if isinstance(value, dict):
        return {key: decode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decode(item) for item in value]
    return value


def numbers(value: object, path: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers of an instance, each with its path: "laws.0.1"."""
    if isinstance(value, (list, dict)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(part, f"{path}.{key}" if path else str(key))
    number = decode(value)
    if isinstance(number, (int, float, Fraction)) and not isinstance(number, bool):
        yield path, number


def peers(instance: Instance, path: str) -> list[tuple[str, Any]]:
    """The other numbers of the list that holds the number at ``path``."""
    above = path.rpartition(".")[0]
    pairs = numbers(instance) if above else ()
    return [pair for pair in pairs if pair[0] != path and pair[0].rpartition(".")[0] == above]


def moved(instance: Instance, changes: Mapping[str, object]) -> Instance:
    """A decoded copy of an instance, with other numbers at some paths."""
    copied = decode(instance)
    for path, number in changes.items():
        holder, *keys = copied, *path.split(".")
        for key in keys[:-1]:
            holder = holder[int(key) if isinstance(holder, list) else key]
        holder[int(keys[-1]) if isinstance(holder, list) else keys[-1]] = decode(number)
    return copied


def rational(value: int | float | str | Fraction) -> fmpq:
    """``value`` exactly."""
    exact = value if isinstance(value, Fraction) else Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def ball(value: Exact) -> arb:
    """The ball around exactly this number, at the working precision."""
    if isinstance(value, arb):
        return value
    return arb(value if isinstance(value, fmpq) else rational(value))


def dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """The inner product of numbers of any kind."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def cut(value: arb, places: int) -> int:
    """A ball's digits up to so many decimals, 2043 for 0.20430. ValueError: it has no such."""
    digits = (value * arb(10) ** places).floor().unique_fmpz()
    if digits is None:
        raise ValueError(f"value must determine {places} decimals, got {value}")
    return int(digits)


def phi(x: Exact) -> arb:
    """Φ(x), the distribution function of the standard normal law."""
    return (-ball(x) / arb(2).sqrt()).erfc() / 2
