"""The units of a sweep: every combination of values, and random draws. A unit is made when it
is read, so that a million cost no memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, overload

import numpy as np

from fairfl._support.checks import shown, whole
from fairfl._support.manifest import sha256
from fairfl._support.toml_file import read_toml

DRAWS = {
    "uniform": lambda rng, low, high, size: rng.uniform(low, high, size),
    "log_uniform": lambda rng, low, high, size: np.exp(
        rng.uniform(np.log(low), np.log(high), size)
    ),
    "normal": lambda rng, mean, sd, size: rng.normal(mean, sd, size),
    "integers": lambda rng, low, high, size: rng.integers(low, high, size, endpoint=True),
}
"""Random values, by the name of their law: two parameters each; ``integers`` holds both ends."""
PARAMETERS = dict.fromkeys(DRAWS, "low <= high") | {
    "log_uniform": "0 < low <= high",
    "normal": "mean, sd >= 0",
}
MOST_UNITS, MOST_VALUES = 10**9, 10**6
"""Largest number of units of a sweep, and of values of one parameter."""


@dataclass(frozen=True)
class Grid(Sequence[dict[str, Any]]):
    """Units: ``fixed`` parameters, every combination of the ``axes``' values, and ``count`` random
    draws of each.

    A name with dots is a place inside a parameter: ``federation.clients.0.q``. Draw j of a
    parameter depends on the seed, the name and j alone, so that all combinations share the draws.

    Attributes
    ----------
    axes : values by name; the last one changes fastest, but for the draws.
    draws : {law: [two numbers]} by name, see ``DRAWS``, with ``size`` for an array.
    """

    fixed: Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    draws: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    count: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        whole("count", self.count, 1, MOST_UNITS)
        whole("seed", self.seed, 0)
        for name, values in self.axes.items():
            if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
                raise ValueError(f"{name} must be a list of values, got {shown(values)}")
        for name, draw in self.draws.items():
            laws = [key for key in draw if key in DRAWS]
            if len(laws) != 1 or set(draw) - {*laws, "size"}:
                raise ValueError(
                    f"{name} must have one of {', '.join(DRAWS)}, and size, got {shown(dict(draw))}"
                )
            size = prod(np.atleast_1d(draw.get("size", 1)).tolist())
            whole(f"{name}.size", size, 0, MOST_VALUES)
        common = set(self.axes) & set(self.draws)
        if common:
            raise ValueError(f"a parameter must have values or draws, got both for {min(common)}")
        if (units := prod(map(len, self.axes.values())) * self.count) > MOST_UNITS:
            raise ValueError(f"a grid must have at most {MOST_UNITS} units, got {units}")
        self[0]  # a name of no place in a unit is an error before any work

    def __len__(self) -> int:
        return prod(len(values) for values in self.axes.values()) * self.count

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        unit = deepcopy(dict(self.fixed))
        for name, value in self.values(index % len(self)).items():
            _place(unit, name, value)
        return unit

    def values(self, index: int) -> dict[str, Any]:
        """What the axes and the draws have for a unit, by name."""
        cell, number = divmod(index, self.count)
        chosen = {}
        for name, values in reversed(self.axes.items()):
            cell, k = divmod(cell, len(values))
            chosen[name] = deepcopy(values[k])
        out = {name: chosen[name] for name in self.axes}
        return out | {name: self._draw(name, draw, number) for name, draw in self.draws.items()}

    def _draw(self, name: str, draw: Mapping[str, Any], number: int) -> Any:
        (law,) = (key for key in draw if key in DRAWS)
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
        rng = np.random.default_rng([self.seed, key, number])
        try:
            first, second = draw[law]
            with np.errstate(all="ignore"):
                values = np.asarray(DRAWS[law](rng, first, second, draw.get("size")))
            if np.isfinite(values).all():
                return values.tolist()
            reason = "a value is not finite"
        except (TypeError, ValueError, OverflowError) as error:
            reason = str(error)
        raise ValueError(
            f"{name} must be a law to draw from, {law} = [{PARAMETERS[law]}], got "
            f"{shown(draw[law])}: {reason}"
        )


def columns(grid: Sequence[Mapping[str, Any]], index: int) -> dict[str, Any]:
    """The parameters of a unit in columns of a table: tables inside have names with dots."""
    if isinstance(grid, Grid):
        return flat(grid.fixed) | grid.values(index)
    return flat(grid[index])


def flat(unit: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Parameters without tables inside: their names joined with dots."""
    out: dict[str, Any] = {}
    for name, value in unit.items():
        key = f"{before}{name}"
        out |= flat(value, f"{key}.") if isinstance(value, Mapping) else {key: value}
    return out


def identity(grid: Sequence[Mapping[str, Any]]) -> str:
    """SHA-256 of what the units are."""
    if isinstance(grid, Grid):
        return digest(vars(grid))
    return digest([digest(unit) for unit in grid])


def contents(data: Any, digests: dict[str, dict[str, str]]) -> dict[str, str]:
    """SHA-256 by name of the files that plain data name, and of those that a TOML file among them
    names; ``digests`` keeps those of each file.
    """
    if isinstance(data, str) and os.path.isfile(data):
        if data not in digests:
            digests[data] = {}  # for a file that names itself
            with suppress(ValueError):  # the unit that reads it fails
                nested = read_toml(data) if data.endswith(".toml") else None
                digests[data] |= contents(nested, digests)
            digests[data][data] = sha256(Path(data))
        return digests[data]
    inner = data.values() if isinstance(data, Mapping) else data
    inner = inner if isinstance(data, (Mapping, list, tuple)) else ()
    return {name: digest for value in inner for name, digest in contents(value, digests).items()}


def digest(data: Any) -> str:
    """SHA-256 of plain data."""
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), default=plain)
    except TypeError as error:
        raise ValueError(f"parameters must be plain data, as JSON has it: {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def plain(value: Any) -> Any:
    """What JSON does not have, as what it has: numpy's numbers and arrays, mappings, tuples."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} {shown(value)}")


def _place(unit: Any, name: str, value: Any) -> None:
    """Put a value where a name with dots says; tables that are missing are made."""
    *path, last = name.split(".")
    inner = unit
    for part in path:
        inner = inner[_index(inner, part, name)] if isinstance(inner, list) else _table(inner, part)
    if isinstance(inner, list):
        inner[_index(inner, last, name)] = value
    elif isinstance(inner, dict):
        inner[last] = value
    else:
        raise ValueError(f"{name} must be a place in a table or list, got {shown(inner)} there")


def _table(inner: Any, part: str) -> Any:
    return inner.setdefault(part, {}) if isinstance(inner, dict) else inner


def _index(inner: list[Any], part: str, name: str) -> int:
    if not part.isdigit() or int(part) >= len(inner):
        raise ValueError(f"{name} must be a place in a list of {len(inner)}, got {shown(part)}")
    return int(part)
