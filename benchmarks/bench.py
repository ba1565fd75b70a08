"""BENCHMARKS.md: pairs timed in turn in one run, so that ratios hold on a busy machine.

By itself: ``python -m benchmarks.bench PART ...``, the parts of these names, such as in_turn.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from benchmarks.client_steps import client_steps
from benchmarks.dynamic import dynamic
from benchmarks.frontiers import cfl_finite, cfl_laws, fedavg
from benchmarks.gpu import on_gpu
from benchmarks.in_turn import in_turn
from benchmarks.jobs import jobs
from benchmarks.libraries import libraries
from benchmarks.simulator import simulator
from benchmarks.timing import FULL, Row, Sizes, interleaved, seconds


def importing(sizes: Sizes) -> Iterator[Row]:
    """``import fairfl`` in a fresh interpreter, the interpreter's own start taken off."""

    def start(code: str) -> Callable[[], Any]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    empty, full = interleaved(sizes.rounds, start("pass"), start("import fairfl"))
    note = f"the interpreter alone takes {seconds(empty)}"
    yield Row("import fairfl", max(full - empty, 1e-6), aim=0.3, note=note)


SOLVED = (cfl_laws, cfl_finite, fedavg, libraries, importing, jobs)
TRAINED = (simulator, client_steps, in_turn, dynamic, on_gpu)


def run(sizes: Sizes, tell: Callable[[str], None] = lambda line: None) -> str:
    """Time everything, and return BENCHMARKS.md; ``tell`` hears of each row as it is done."""
    rows = []
    for row in rows_of(SOLVED + TRAINED, sizes):
        tell(" | ".join(cell for cell in row.cells() if cell))
        rows.append(row)
    return markdown(rows, sizes)


def rows_of(parts: Sequence[Callable[[Sizes], Iterator[Row]]], sizes: Sizes) -> Iterator[Row]:
    """The rows, of what trains only where torch is, on one thread."""
    for part in parts:
        if part in TRAINED:
            if find_spec("torch") is None:
                continue
            import torch

            torch.set_num_threads(1)
        yield from part(sizes)


def markdown(rows: list[Row], sizes: Sizes) -> str:
    """The table, and what it was measured on."""
    head = ("what", "ours", "alternative", "ratio", "aim", "met", "note")
    lines = [head, tuple("---" for _ in head), *(row.cells() for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    told = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("fairfl", "numpy", "scipy", "cvxpy")
    )
    machine = (
        f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {told}"
    )
    return (
        "# Benchmarks\n\n"
        f"Written by `make bench` (`fairfl bench`). {machine}.\nTimes are CPU seconds, the least "
        f"of {sizes.rounds} rounds after one that is not counted, ours and the alternative in "
        "turn in one run; ratio is the alternative's time over ours. Times of commit dc15ec5 were "
        f"recorded: `benchmarks/jobs.py` says where.\n\n{table}\n"
    )


if __name__ == "__main__":
    asked = [part for part in SOLVED + TRAINED if part.__name__ in sys.argv[1:]]
    for row in rows_of(asked, FULL):
        print(" | ".join(row.cells()), flush=True)
