"""A grid of a sweep, or of a run's TOML file: every combination of parameters' values, and random
draws. A unit is made when it is read, so that a million cost no memory.
"""

import hashlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import combinations
from math import prod
from typing import cast, overload

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import shown, whole

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
GRID, MOST_TABLES = "grid", 1000
"""Key of a table's grid, and the largest number of tables that one with grids may stand for."""
Chosen = dict[str, object]
"""A combination: the value of each parameter."""


@dataclass(frozen=True)
class Grid(Sequence[dict[str, object]]):
    """Units: ``fixed`` parameters, every combination of the ``axes``' values, the last of which
    changes fastest, and ``count`` random ``draws`` of each, {law: [two numbers]}, with ``size`` for
    an array.

    A name with dots is a place inside a parameter: ``federation.clients.0.q``. Draw j of a
    parameter depends on the seed, the name and j alone, so that all combinations share the draws.
    """

    fixed: Mapping[str, object] = field(default_factory=dict)
    axes: Mapping[str, Sequence[object]] = field(default_factory=dict)
    draws: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    count: int = 1  # type: ignore[assignment]
    seed: int = 0

    def __post_init__(self) -> None:
        whole("count", self.count, 1, MOST_UNITS)
        whole("seed", self.seed, 0)
        for name, values in self.axes.items():
            if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
                raise ValueError(f"{name} must be a list of values, got {shown(values)}")
        for name, draw in self.draws.items():
            laws = [key for key in draw if key in DRAWS] if isinstance(draw, Mapping) else []
            if len(laws) != 1 or set(draw) - {*laws, "size"}:
                raise ValueError(
                    f"{name} must have one of {', '.join(DRAWS)}, and size, got {shown(draw)}"
                )
            size = prod(np.atleast_1d(cast(ArrayLike, draw.get("size", 1))).tolist())
            whole(f"{name}.size", size, 0, MOST_VALUES)
        kinds = {"one value": self.fixed, "values": self.axes, "draws": self.draws}
        for (first, names), (second, others) in combinations(kinds.items(), 2):
            if common := set(names) & set(others):
                raise ValueError(
                    f"a parameter must have one value, values or draws, got {first} and {second} "
                    f"for {min(common)}"
                )
        if (units := prod(map(len, self.axes.values())) * self.count) > MOST_UNITS:
            raise ValueError(f"a grid must have at most {MOST_UNITS} units, got {units}")
        self[0]  # a name of no place in a unit is an error before any work

    def __len__(self) -> int:
        return prod(len(values) for values in self.axes.values()) * self.count

    @overload
    def __getitem__(self, index: int) -> dict[str, object]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, object]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, object] | list[dict[str, object]]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        unit = deepcopy(dict(self.fixed))
        for name, value in self.values(index % len(self)).items():
            _place(unit, name, value)
        return unit

    def values(self, index: int) -> Chosen:
        """What the axes and the draws have for a unit, by name."""
        cell, number = divmod(index, self.count)
        places = np.unravel_index(cell, [len(values) for values in self.axes.values()])
        cells = zip(self.axes.items(), places, strict=True)
        chosen: Chosen = {name: deepcopy(values[int(k)]) for (name, values), k in cells}
        return chosen | {name: self._draw(name, draw, number) for name, draw in self.draws.items()}

    def _draw(self, name: str, draw: Mapping[str, object], number: int) -> object:
        (law,) = (key for key in draw if key in DRAWS)
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
        rng = np.random.default_rng([self.seed, key, number])
        try:
            first, second = cast(Sequence[float], draw[law])
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


def points(table: dict[str, object], where: str) -> list[tuple[dict[str, object], Chosen]]:
    """The tables that the one at ``where`` stands for, tables within it included, in the file's
    order. ValueError for a wrong grid, and for more than ``MOST_TABLES`` combinations.
    """
    axes: dict[str, list[object]] = {}
    grid = Grid(_parted(table, where, "", axes), axes)
    if len(grid) > MOST_TABLES:
        place = f"{where}.{GRID}" if where else "all grids together"
        raise ValueError(f"{place} must have at most {MOST_TABLES} combinations, got {len(grid)}")
    before = f"{where}." if where else ""
    return [
        (grid[k], {f"{before}{name}": value for name, value in grid.values(k).items()})
        for k in range(len(grid))
    ]


def _parted(
    table: dict[str, object], where: str, before: str, axes: dict[str, list[object]]
) -> dict[str, object]:
    """The table without its grids, whose values go to ``axes``."""
    fixed = {}
    for key, value in table.items():
        at = f"{where}.{key}" if where else key
        if key == GRID:
            axes |= {f"{before}{name}": v for name, v in _checked(value, at, table).items()}
        elif isinstance(value, dict):
            fixed[key] = _parted(value, at, f"{before}{key}.", axes)
        else:
            fixed[key] = value
    return fixed


def _checked(grid: object, where: str, table: dict[str, object]) -> dict[str, list[object]]:
    """A table's grid."""
    if not isinstance(grid, dict) or not grid:
        raise ValueError(f"{where} must be a table of lists, got {shown(grid)}")
    for key, values in grid.items():
        if key in table:
            beside = f"{where.removesuffix(GRID)}{key}"
            raise ValueError(f"{where}.{key} must not be beside {beside}, got {shown(values)}")
        is_list = isinstance(values, list) and values
        if not is_list or len({repr(value) for value in values}) < len(values):
            raise ValueError(
                f"{where}.{key} must be a list of distinct values, got {shown(values)}"
            )
    return grid


def point_label(chosen: Chosen) -> str:
    """ "batch_size = 10, lr = 0.1": keys by their last name, or in full where two of them agree."""
    short = {place: place.rsplit(".", 1)[-1] for place in chosen}
    is_ambiguous = len(set(short.values())) < len(short)
    pairs = [(place if is_ambiguous else short[place], value) for place, value in chosen.items()]
    return ", ".join(f"{key} = {words(value)}" for key, value in pairs)


def words(value: object) -> str:
    """A value as tables show it: {kind = "geometric", z = 0.85} is geometric (z = 0.85)."""
    if not isinstance(value, dict) or not value:
        return str(value)
    first, *pairs = (f"{key} = {inner}" for key, inner in value.items())
    kind = next(iter(value.values()))
    if not isinstance(kind, str):
        return f"({', '.join([first, *pairs])})"
    return f"{kind} ({', '.join(pairs)})" if pairs else kind


def _place(unit: dict[str, object], name: str, value: object) -> None:
    """Put a value where a name with dots says; tables that are missing are made."""
    *path, last = name.split(".")
    inner: object = unit
    for part in path:
        inner = inner[_index(inner, part, name)] if isinstance(inner, list) else _table(inner, part)
    if isinstance(inner, list):
        inner[_index(inner, last, name)] = value
    elif isinstance(inner, dict):
        inner[last] = value
    else:
        raise ValueError(f"{name} must be a place in a table or list, got {shown(inner)} there")


def _table(inner: object, part: str) -> object:
    return inner.setdefault(part, {}) if isinstance(inner, dict) else inner


def _index(inner: list[object], part: str, name: str) -> int:
    if not part.isdigit() or int(part) >= len(inner):
        raise ValueError(f"{name} must be a place in a list of {len(inner)}, got {shown(part)}")
    return int(part)
