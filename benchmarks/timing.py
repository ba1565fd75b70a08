"""Rows of BENCHMARKS.md: the sizes of the jobs, a row, and functions timed alternately."""

import gc
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MAX_CALLS, MAX_SECONDS = 10, 0.5
"""Largest number of calls of a function in one turn, and the seconds after which a turn ends."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of the jobs."""

    eps: int
    atoms: tuple[int, ...]
    people: int
    grid: int
    rounds: int


FULL = Sizes(eps=1000, atoms=(100_000, 1_000_000), people=20_000, grid=2000, rounds=5)


QUICK = Sizes(eps=20, atoms=(1000,), people=300, grid=100, rounds=1)


@dataclass(frozen=True)
class Row:
    """A table line: our seconds (NaN: see ``note``), those of the rival, and the aim."""

    title: str
    ours: float
    rival: str = ""
    alternative: float | None = None
    aim: float | None = None
    note: str = ""

    def cells(self) -> tuple[str, ...]:
        """What, ours, alternative, ratio, aim, met, note."""
        if self.alternative is None:
            alternative, ratio = "", ""
        else:
            alternative = f"{seconds(self.alternative)} ({self.rival})"
            ratio = f"{self.alternative / self.ours:.3g}"
        aim = "" if self.aim is None else f"≤ {seconds(self.aim)}"
        ours, met = "not measured", ""
        if not np.isnan(self.ours):
            ours = seconds(self.ours)
            if self.aim is not None:
                met = "yes" if self.ours <= self.aim else "**no**"
        return self.title, ours, alternative, ratio, aim, met, self.note


def interleaved(rounds: int, *functions: Callable[[], object]) -> list[float]:
    """The least CPU time of each function, called in turn in every round, after one warm-up run."""
    best = [np.inf] * len(functions)
    for function in functions:
        function()
    gc.collect()
    for _ in range(rounds):
        for j, function in enumerate(functions):
            spent = 0.0
            for _ in range(MAX_CALLS if rounds > 1 else 1):
                begin = cpu()
                function()
                elapsed = cpu() - begin
                best[j], spent = min(best[j], elapsed), spent + elapsed
                if spent > MAX_SECONDS:
                    break
    return best


def cpu() -> float:
    """CPU seconds of this process and of its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def seconds(value: float) -> str:
    """A duration with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"
