"""Rows of BENCHMARKS.md: how much is timed, a row, and functions timed in turn."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

AGAIN, SETTLED = 10, 0.5
"""Most calls of a function in one turn, and the seconds after which the turn ends earlier."""


@dataclass(frozen=True)
class Sizes:
    """How much to time."""

    eps: int
    atoms: tuple[int, ...]
    people: int
    grid: int
    rounds: int


FULL = Sizes(eps=1000, atoms=(100_000, 1_000_000), people=20_000, grid=2000, rounds=5)


QUICK = Sizes(eps=20, atoms=(1000,), people=300, grid=100, rounds=1)


@dataclass(frozen=True)
class Row:
    """A table line: seconds of ours (NaN: see ``note``), the alternative and the aim."""

    what: str
    ours: float
    other: str = ""
    alternative: float | None = None
    aim: float | None = None
    note: str = ""

    def cells(self) -> tuple[str, ...]:
        """What, ours, alternative, ratio, aim, met, note."""
        if self.alternative is None:
            against, ratio = "", ""
        else:
            against = f"{seconds(self.alternative)} ({self.other})"
            ratio = f"{self.alternative / self.ours:.3g}"
        aim = "" if self.aim is None else f"≤ {seconds(self.aim)}"
        met = (
            ""
            if self.aim is None or self.ours != self.ours
            else "yes"
            if self.ours <= self.aim
            else "**no**"
        )
        ours = "not measured" if self.ours != self.ours else seconds(self.ours)
        return self.what, ours, against, ratio, aim, met, self.note


def interleaved(rounds: int, *functions: Callable[[], Any]) -> list[float]:
    """The least CPU time of each function, one after the other in every round, after one run that
    is not counted. Short ones are run again in their turn.
    """
    best = [np.inf] * len(functions)
    for function in functions:
        function()
    gc.collect()
    for _ in range(rounds):
        for j, function in enumerate(functions):
            spent = 0.0
            for _ in range(AGAIN if rounds > 1 else 1):
                begin = cpu()
                function()
                took = cpu() - begin
                best[j], spent = min(best[j], took), spent + took
                if spent > SETTLED:
                    break
    return best


def cpu() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def seconds(value: float) -> str:
    """A duration with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"
