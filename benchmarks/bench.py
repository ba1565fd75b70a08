"""BENCHMARKS.md: pairs timed in turn; ``python -m benchmarks.bench PART ...``: some parts."""

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

from benchmarks.frontiers import cfl_finite, cfl_laws, fedavg
from benchmarks.jobs import jobs
from benchmarks.libraries import libraries
from benchmarks.timing import FULL, Row, Sizes, interleaved, seconds
from fairfl._support.markdown_table import markdown_table


def importing(sizes: Sizes) -> Iterator[Row]:
    """``import fairfl`` in a fresh interpreter, less the start of the interpreter."""
    start = partial(subprocess.run, check=True)
    commands = ([sys.executable, "-c", code] for code in ("pass", "import fairfl"))
    empty, full = interleaved(sizes.rounds, *(partial(start, command) for command in commands))
    note = f"the interpreter alone takes {seconds(empty)}"
    yield Row("import fairfl", max(full - empty, 1e-6), aim=0.3, note=note)


SOLVED = (cfl_laws, cfl_finite, fedavg, libraries, importing, jobs)
BY_HAND = Path(__file__).with_name("other_systems.md")
"""Measured by hand, the end of BENCHMARKS.md: systems that this environment does not hold."""
TRAINED = ("simulator", "client_steps", "gpu")
"""Modules here that import torch, each with a function of its name."""
PARTS = (*(part.__name__ for part in SOLVED), *TRAINED)


def run(sizes: Sizes, tell: Callable[[str], None] = lambda line: None) -> str:
    """Time everything, and return BENCHMARKS.md; ``tell`` is called with each finished row."""
    rows = []
    for row in rows_of(PARTS, sizes):
        tell(" | ".join(cell for cell in row.cells() if cell))
        rows.append(row)
    return markdown(rows, sizes)


def rows_of(names: Collection[str], sizes: Sizes) -> Iterator[Row]:
    """The rows of these parts; those that train on one thread, and only if torch is installed."""
    for part in SOLVED:
        if part.__name__ in names:
            yield from part(sizes)
    trained = [name for name in TRAINED if name in names] if find_spec("torch") else []
    for name in trained:
        import_module("torch").set_num_threads(1)
        yield from getattr(import_module(f"benchmarks.{name}"), name)(sizes)


def markdown(rows: list[Row], sizes: Sizes) -> str:
    """The table, and the machine and versions of the measurement."""
    columns = ("what", "ours", "alternative", "ratio", "aim", "met", "note")
    table = markdown_table([columns, *(row.cells() for row in rows)])
    libraries = ("fairfl", "numpy", "scipy", "cvxpy")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in libraries)
    python = f"Python {platform.python_version()}"
    machine = f"{os.cpu_count()} cores ({platform.machine()}), {python}, {versions}"
    return (
        "# Benchmarks\n\n"
        f"Written by `make bench` (`fairfl bench`). {machine}.\nTimes are CPU seconds, the least "
        f"of {sizes.rounds} rounds after one that is not counted, ours and the alternative in "
        f"turn in one run; ratio is the alternative's time over ours.\n\n{table}\n"
        + (BY_HAND.read_text("utf-8") if sizes.rounds > 1 else "")
    )


if __name__ == "__main__":
    for row in rows_of(sys.argv[1:], FULL):
        print(" | ".join(row.cells()), flush=True)
