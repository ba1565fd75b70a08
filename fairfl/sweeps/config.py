"""A sweep from a TOML file; docs/sweeps.md lists the keys."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from fairfl._support.checks import finite, one_of, shown, single, whole
from fairfl._support.own_parts import named_modules
from fairfl._support.toml_file import read_toml
from fairfl.studies.grid import MOST_VALUES, Grid
from fairfl.sweeps.tasks import TASKS


def read_sweep(path: str | Path) -> tuple[Callable[..., object], Grid]:
    """The function and the units that a TOML file describes.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.
    """
    table = read_toml(path)
    name = Path(path).name
    if unknown := set(table) - {"run", "fixed", "grid", "draw"}:
        raise ValueError(f"{name} must have run, fixed, grid and draw only, got {min(unknown)}")
    for key in ("fixed", "grid", "draw"):
        if not isinstance(table.get(key, {}), dict):
            raise ValueError(f"{key} must be a table, got {shown(table[key])}")
    draw = dict(table.get("draw", {}))
    count, seed = draw.pop("count", 1), draw.pop("seed", 0)
    axes = {key: _values(key, value) for key, value in _named(table.get("grid", {})).items()}
    draws = cast(dict[str, Mapping[str, object]], _named(draw))  # which the grid checks
    grid = Grid(table.get("fixed", {}), axes, draws, count, seed)
    return _function(table.get("run")), grid


def _named(table: Mapping[str, object]) -> dict[str, object]:
    """Tables inside tables, as TOML makes of names with dots that are not quoted, with one name."""
    out: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, dict) and (
            any(isinstance(v, dict) for v in value.values()) or not set(value) & _SPECIAL
        ):
            out |= {f"{key}.{k}": v for k, v in _named(value).items()}
        else:
            out[key] = value
    return out


_SPECIAL = {"from", "count", "uniform", "log_uniform", "normal", "integers"}


def _values(name: str, value: object) -> Sequence[object]:
    """A list, or what stands for one."""
    if not isinstance(value, dict):
        return cast(Sequence[object], value)  # which the grid checks
    if set(value) == {"count"}:
        return list(range(whole(f"{name}.count", value["count"], 1, MOST_VALUES)))
    if set(value) != {"from", "to", "steps"}:
        raise ValueError(
            f"{name} must be a list, {{from, to, steps}} or {{count}}, got {shown(value)}"
        )
    steps = whole(f"{name}.steps", value["steps"], 1, MOST_VALUES)
    start, stop = (
        single(f"{name}.{end}", finite(f"{name}.{end}", value[end])) for end in ("from", "to")
    )
    values = np.linspace(start, stop, steps)
    has_whole_ends = isinstance(value["from"], int) and isinstance(value["to"], int)
    is_whole = has_whole_ends and (stop - start) % max(1, steps - 1) == 0
    return (np.rint(values).astype(np.int64) if is_whole else values).tolist()


def _function(run: object) -> Callable[..., object]:
    """What is run: a file can name the package's own, or what --import named, and no other code."""
    if not isinstance(run, str):
        raise ValueError(f"run must name what is run, got {shown(run)}")
    if ":" not in run:
        return TASKS[one_of("run", run, tuple(TASKS))]
    module, _, name = run.partition(":")
    if module not in {imported.__name__ for imported in named_modules()}:
        raise ValueError(f"run must name a module of --import, got {run}")
    function = getattr(sys.modules[module], name, None)
    if not callable(function):
        raise ValueError(f"run must name a function of {module}, got {run}")
    return function
