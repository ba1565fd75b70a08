"""Run the units of a sweep: what is there already stays, and every result is kept as it comes."""

import inspect
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from time import perf_counter

import pandas as pd

from fairfl._support.checks import one_of, shown, whole
from fairfl._support.extras import extras_named
from fairfl._support.own_parts import DIGESTS, named_modules, sources
from fairfl._support.threads import one_thread
from fairfl._support.version import __version__
from fairfl.sweeps.engines import Engine, Local, Ray
from fairfl.sweeps.folder import TABLE, Folder, Progress, Result, table
from fairfl.sweeps.grid import Grid, digest, identity, plain

ENGINES = ("local", "ray")
IN_FLIGHT = 4
"""Tasks that wait or run, for each task that can run at a time."""
SECONDS, MOST = 0.2, 200
"""Units are grouped into tasks of about this many seconds, and at most this many units."""
LOST = "the process that ran it ended: it was killed, ran out of memory, or crashed"

Function = Callable[..., object]
Unit = Mapping[str, object]
Units = Sequence[Unit]
Task = tuple[list[Result], float]
"""The results of a task's units, and the seconds that they took."""


def sweep(
    function: Function,
    grid: Mapping[str, Sequence[object]] | Units,
    out: str | Path,
    *,
    engine: str | Executor = "local",
    jobs: int = 0,
    shard: tuple[int, int] = (1, 1),
    retry_failed: bool = False,
    address: str | None = None,
    cpus: float = 1.0,
    gpus: float = 0.0,
    memory: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Call a function with every unit of a grid, and tabulate what it returns.

    A unit that is in the folder already is not run again, so a sweep that was stopped goes on where
    it was. The table does not depend on the engine, the order, or the number of processes.

    Parameters
    ----------
    function : of a module that other processes can import; returns a mapping of plain data (a row
        of the table), or a sequence of such. What it raises is a row, too, with its message.
    grid : values by parameter, of which every combination is a unit; or the units themselves, each
        a mapping; or a :class:`fairfl.sweeps.grid.Grid` with random draws.
    out : folder of the results; a new one, or that of the same sweep.
    engine : "local" for processes, "ray" (extra ``ray``), or a ``concurrent.futures.Executor``.
    jobs : processes of "local"; 0 for one for each core, four at most.
    shard : (k, n) runs the k-th of n parts, k from 1; ``fairfl sweep table`` joins the folders.
    retry_failed : whether units that failed are run again.
    address : of a Ray cluster; by default one of this machine.
    cpus, gpus, memory : of a unit, under "ray"; parts of a processor, and bytes.
    progress : called with the number of units done, and of all.

    Returns
    -------
    The table, of a shard its own units, also in ``table.parquet`` in ``out``: columns ``unit`` (its
    number), the parameters (of tables inside, with dots), what ``function`` gave, and ``error``.

    Raises
    ------
    ValueError : an argument that is wrong, or a folder of another sweep.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from tempfile import TemporaryDirectory
    >>> import fairfl as ff
    >>> def product(a, b):
    ...     return {"product": a * b}
    >>> with TemporaryDirectory() as out, ThreadPoolExecutor(2) as threads:
    ...     table = ff.sweep(product, {"a": [2, 3], "b": [5, 7]}, out, engine=threads)
    >>> table["product"].tolist()
    [10, 14, 15, 21]
    """
    units = Grid(axes=grid) if isinstance(grid, Mapping) else grid
    _check(function, units, engine, jobs)
    numbers = shard_numbers(len(units), *shard)
    folder = Folder(Path(out))
    folder.open(described(function, units))
    keeper = Keeper(folder, len(numbers), progress)
    todo = keeper.missing((units[number] for number in numbers), retry_failed)
    first = next(todo, None)
    if first is not None:  # no engine is started for nothing
        if engine == "ray":
            runner = Ray(address, cpus, gpus, memory)
        elif isinstance(engine, str):
            runner = Local(jobs)
        else:
            runner = Engine(engine, jobs or os.cpu_count() or 1)
        _run(runner, function, chain([first], todo), keeper.keep)
    table([folder], units, folder.path / TABLE, numbers)
    return pd.read_parquet(folder.path / TABLE)


def _check(function: Function, units: Units, engine: str | Executor, jobs: int) -> None:
    """ValueError for arguments of a sweep that are wrong, and an error without pyarrow."""
    with extras_named():
        import pyarrow  # noqa: F401  # the table needs it
    if isinstance(engine, str):
        one_of("engine", engine, ENGINES)
    whole("jobs", jobs, 0)
    if not len(units):
        raise ValueError("grid must have at least one unit, got none")
    if not hasattr(function, "__qualname__"):
        raise ValueError(f"function must be a function that has a name, got {shown(function)}")
    if isinstance(engine, str):
        _importable(function, engine)


def shard_numbers(units: int, k: int, n: int) -> range:
    """The numbers of the units of the k-th of n parts, k from 1."""
    whole("shard[1]", n, 1)
    whole("shard[0]", k, 1, n)
    return range(k - 1, units, n)


class Keeper:
    """Keeps results in a folder, and counts."""

    def __init__(self, folder: Folder, total: int, progress: Progress | None) -> None:
        self.folder, self.total, self.progress = folder, total, progress
        self.done = 0

    def missing(self, units: Iterable[Unit], retry_failed: bool) -> Iterator[Unit]:
        """The units without a result."""
        for unit in units:
            record = self.folder.result(unit)
            if record is None or retry_failed and "error" in record:
                yield unit
            else:
                self.done += 1

    def keep(self, unit: Unit, result: Result) -> None:
        """Write a result."""
        self.folder.keep(unit, result)
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)


def described(function: Function, units: Units) -> dict[str, object]:
    """What is swept: the function, all code that it uses, and the units."""
    named_modules()  # fills DIGESTS
    code = {"fairfl": __version__, **DIGESTS, **_code(function)}
    name = f"{function.__module__}.{function.__qualname__}"
    return {"function": name, "code": digest(code), "units": len(units), "grid": identity(units)}


def _importable(function: Function, engine: str) -> None:
    """ValueError for what other processes cannot look up. Ray sends functions of no file along."""
    reason = "it is of no file, as those of a notebook's cell"
    try:
        pickle.dumps(function)
        if engine == "ray" or _file(function) or function.__module__ in sys.builtin_module_names:
            return
    except (pickle.PicklingError, AttributeError) as error:
        reason = str(error)
    raise ValueError(
        "function must be one of a module, that other processes can import, got "
        f"{function.__qualname__}: {reason}"
    )


def _file(function: Function) -> str | None:
    """The file from which other processes import a function, None where there is none."""
    file = getattr(sys.modules.get(function.__module__), "__file__", None)
    if file and function.__module__ == "__main__":  # with python -i some of it is of no file
        code = getattr(inspect.unwrap(function), "__code__", None)
        file = code.co_filename if code else file
    return file if file and os.path.isfile(file) else None


def _code(function: Function) -> dict[str, str]:
    """SHA-256 of the function's file and modules of the user's that it imports, or of itself."""
    if function.__module__.startswith("fairfl."):
        return {}
    if file := _file(function):
        return sources(function.__module__, Path(file))
    with suppress(OSError, TypeError):
        return {"function": sha256(inspect.getsource(function).encode()).hexdigest()}
    return {}


def _run(
    engine: Engine, function: Function, todo: Iterator[Unit], keep: Callable[[Unit, Result], None]
) -> None:
    """Run units, a few tasks at a time; those whose process is lost are run once more, alone."""
    stopped = True
    try:
        for unit in list(_together(engine, function, todo, keep)):
            for _ in _together(engine, function, iter([unit]), keep):
                keep(unit, {"error": LOST})
        stopped = False
    finally:
        engine.close(stopped)


def _together(
    engine: Engine, function: Function, todo: Iterator[Unit], keep: Callable[[Unit, Result], None]
) -> Iterator[Unit]:
    """Run units and keep their results; yields the units whose process was lost."""
    waiting: dict[Future[Task], list[Unit]] = {}
    size = 1
    while True:
        while len(waiting) < IN_FLIGHT * engine.slots and (task := list(islice(todo, size))):
            waiting[engine.submit(work, function, task)] = task
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            if future.exception() is not None:
                yield from waiting.pop(future)
                continue
            task = waiting.pop(future)
            results, seconds = future.result()
            for unit, result in zip(task, results, strict=True):
                keep(unit, result)
            size = int(min(max(SECONDS * len(task) / max(seconds, 1e-6), 1), MOST))


@one_thread()
def work(function: Function, task: Units) -> Task:
    """The results of units; runs in another process."""
    start = perf_counter()
    return [_result(function, unit) for unit in task], perf_counter() - start


def _result(function: Function, unit: Unit) -> Result:
    try:
        return {"rows": _rows(function(**unit), unit)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _rows(returned: object, unit: Unit) -> list[dict[str, object]]:
    rows = [returned] if isinstance(returned, Mapping) else returned
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise TypeError(
            f"a result must be a mapping or a sequence of mappings, got {shown(returned)}"
        )
    if taken := {name for row in rows for name in row} & {*unit, "unit", "error"}:
        raise ValueError(f"a result must not have the name of a parameter, got {min(taken)}")
    return json.loads(json.dumps([*map(dict, rows)], default=plain))
