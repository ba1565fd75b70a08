"""A small picture of a counterexample as data: curves, accept sets as bars, and phase diagrams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Curve:
    """Points (x, y), joined unless ``points``."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    points: bool = False

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y) or not self.x:
            raise ValueError(
                f"x and y of {self.label!r} must be as long, got {len(self.x)} and {len(self.y)} "
                "numbers"
            )


@dataclass(frozen=True)
class Region:
    """A row of intervals of x, such as what a classifier accepts."""

    label: str
    intervals: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Map:
    """A phase diagram: shaded where ``values``, a row for each of ``y`` and in it a number for each
    of ``x``, are positive; with lines over it.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    lines: tuple[Curve, ...] = ()

    def __post_init__(self) -> None:
        if {len(row) for row in self.values} != {len(self.x)} or len(self.values) != len(self.y):
            raise ValueError(
                f"values of {self.label!r} must be {len(self.y)} rows of {len(self.x)} numbers"
            )


@dataclass(frozen=True)
class Picture:
    """What to draw: curves over x, regions as rows, or maps side by side.

    A claim's module names its pictures in ``PICTURES``, a dict from the claim's id to a function
    without arguments.
    """

    caption: str
    x: str
    y: str = ""
    curves: tuple[Curve, ...] = ()
    regions: tuple[Region, ...] = ()
    maps: tuple[Map, ...] = ()

    def __post_init__(self) -> None:
        if sum(map(bool, (self.curves, self.regions, self.maps))) != 1:
            raise ValueError("a picture must have curves, regions or maps, and one of them alone")


def pictures(module: str) -> dict[str, Callable[[], Picture]]:
    """The ``PICTURES`` of a claim's module, by id; empty where it has none."""
    from importlib import import_module

    return dict(getattr(import_module(module), "PICTURES", {}))
