"""A small picture of a counterexample as data: curves, and accept sets as bars."""

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
class Picture:
    """What to draw: either curves over x, or regions as rows.

    A claim's module names its pictures in ``PICTURES``, a dict from the claim's id to a function
    without arguments.
    """

    caption: str
    x: str
    y: str = ""
    curves: tuple[Curve, ...] = ()
    regions: tuple[Region, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.curves) == bool(self.regions):
            raise ValueError("a picture must have curves or regions, and not both")


def pictures(module: str) -> dict[str, Callable[[], Picture]]:
    """The ``PICTURES`` of a claim's module, by id; empty where it has none."""
    from importlib import import_module

    return dict(getattr(import_module(module), "PICTURES", {}))
