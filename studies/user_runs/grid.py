"""Grids of a TOML file: a table with ``grid = {key = [values]}`` is one table a combination."""

from __future__ import annotations

from itertools import chain, product
from math import prod
from typing import Any

from fairfl._support.checks import shown

GRID = "grid"
MOST = 1000
"""Largest number of tables that one table with grids may stand for."""
Chosen = dict[str, Any]
"""A combination: the value of each key."""


def points(table: dict[str, Any], where: str) -> list[tuple[dict[str, Any], Chosen]]:
    """The tables that the one at ``where`` stands for, tables within it included: their order is
    the file's, the last key first.

    Errors: ValueError for a grid that is no table of lists, for values that are twice there, for a
    key that is beside the grid too, and for more than ``MOST`` combinations.
    """
    axes = []
    for key, value in table.items():
        at = f"{where}.{key}" if where else key
        if key == GRID:
            axes += _axes(value, where, table)
        elif isinstance(value, dict):
            axes.append([(key, inner, chosen) for inner, chosen in points(value, at)])
        else:
            axes.append([(key, value, {})])
    count = prod(map(len, axes))
    if count > MOST:
        place = f"{where}.{GRID}" if where else "all grids together"
        raise ValueError(f"{place} must have at most {MOST} combinations, got {count}")
    return [
        (
            {key: value for key, value, _ in combination},
            dict(chain.from_iterable(chosen.items() for *_, chosen in combination)),
        )
        for combination in product(*axes)
    ]


def _axes(grid: Any, where: str, table: dict[str, Any]) -> list[list[tuple[str, Any, Chosen]]]:
    """The choices of each key."""
    if not isinstance(grid, dict) or not grid:
        raise ValueError(f"{where}.{GRID} must be a table of lists, got {shown(grid)}")
    for key, values in grid.items():
        at = f"{where}.{GRID}.{key}"
        if key in table:
            raise ValueError(f"{at} must not be beside {where}.{key}, got {shown(values)}")
        fine = isinstance(values, list) and values
        if not fine or len({repr(value) for value in values}) < len(values):
            raise ValueError(f"{at} must be a list of distinct values, got {shown(values)}")
    return [
        [(key, value, {f"{where}.{key}": value}) for value in values]
        for key, values in grid.items()
    ]


def point_label(chosen: Chosen) -> str:
    """ "batch_size = 10, lr = 0.1": keys by their last name, or in full where two of them agree."""
    short = {place: place.rsplit(".", 1)[-1] for place in chosen}
    is_ambiguous = len(set(short.values())) < len(short)
    pairs = [(place if is_ambiguous else short[place], value) for place, value in chosen.items()]
    return ", ".join(f"{key} = {words(value)}" for key, value in pairs)


def words(value: Any) -> str:
    """A value as tables show it: {kind = "geometric", z = 0.85} is geometric (z = 0.85)."""
    if not isinstance(value, dict) or not value:
        return str(value)
    first, *others = value.values()
    names = list(value)[1:]
    pairs = ", ".join(f"{key} = {inner}" for key, inner in zip(names, others, strict=True))
    return f"{first} ({pairs})" if pairs else str(first)
