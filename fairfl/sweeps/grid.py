"""What the units of a sweep are: their parameters in columns, and their digests."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from fairfl._support.checks import shown
from fairfl._support.manifest import sha256
from fairfl._support.toml_file import read_toml
from fairfl.studies.grid import Grid as Grid


def columns(grid: Sequence[Mapping[str, object]], index: int) -> dict[str, object]:
    """The parameters of a unit in columns of a table: tables inside have names with dots."""
    if isinstance(grid, Grid):
        return flat(grid.fixed) | grid.values(index)
    return flat(grid[index])


def flat(unit: Mapping[str, object], before: str = "") -> dict[str, object]:
    """Parameters without tables inside: their names joined with dots."""
    out: dict[str, object] = {}
    for name, value in unit.items():
        key = f"{before}{name}"
        out |= flat(value, f"{key}.") if isinstance(value, Mapping) else {key: value}
    return out


def identity(grid: Sequence[Mapping[str, object]]) -> str:
    """SHA-256 of what the units are."""
    if isinstance(grid, Grid):
        return digest(vars(grid))
    return digest([digest(unit) for unit in grid])


def contents(data: object, digests: dict[str, dict[str, str]]) -> dict[str, str]:
    """SHA-256 by name of the files that plain data name, and of those that a TOML file among them
    names; ``digests`` keeps those of each file.
    """
    if isinstance(data, str) and os.path.isfile(data):
        if data not in digests:
            digests[data] = {}  # for a file that names itself
            with suppress(ValueError):  # the unit that reads it fails
                nested = read_toml(data) if data.endswith(".toml") else None
                digests[data] |= contents(nested, digests)
            digests[data][data] = sha256(Path(data))
        return digests[data]
    if isinstance(data, Mapping):
        return contents([*data.values()], digests)
    inner = data if isinstance(data, (list, tuple)) else ()
    return {name: digest for value in inner for name, digest in contents(value, digests).items()}


def digest(data: object) -> str:
    """SHA-256 of plain data."""
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), default=plain)
    except TypeError as error:
        raise ValueError(f"parameters must be plain data, as JSON has it: {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def plain(value: object) -> object:
    """What JSON does not have, as what it has: numpy's numbers and arrays, mappings, tuples."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} {shown(value)}")
