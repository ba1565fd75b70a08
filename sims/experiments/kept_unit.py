"""What a unit outside of the engine measured, kept with what it was run with, so that no other run is taken for it."""

from __future__ import annotations

from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd

from fairfl.sims.engine.files import RunFolderError
from fairfl.sims.engine.run import first_difference, plain
from fairfl.sims.experiments.experiment import Unit
from fairfl.theory.whole_file import write_whole

MEASURED = "measured.parquet"
"""The file in the unit's folder; its configuration is in the same file, so that the two cannot part."""
CONFIGURATION = "configuration"


def configuration(unit: Unit) -> dict[str, Any]:
    """What the unit is run with, as JSON: the function that ``make`` calls, by name, and all of its arguments.

    Defaults are among the arguments. What the function reads beside them, its source above all, is not, as it is not
    in the configuration of an engine's run.
    """
    make = unit.make if isinstance(unit.make, partial) else partial(unit.make)
    given = signature(make.func).bind(*make.args, **make.keywords)
    given.apply_defaults()
    return {
        "function": f"{make.func.__module__}.{make.func.__qualname__}",
        "arguments": {name: plain(value) for name, value in given.arguments.items()},
        "dataset": unit.dataset,
        "seed": unit.seed,
    }


def keep(folder: Path, unit: Unit, measures: pd.DataFrame) -> None:
    """Write the measures into the unit's folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    told = measures.copy()
    told.attrs = {CONFIGURATION: configuration(unit)}
    write_whole(folder / MEASURED, told.to_parquet())


def kept(folder: Path, unit: Unit) -> pd.DataFrame | None:
    """The measures that the folder holds of this very unit; None where it holds none, or none that says of what.

    Raises
    ------
    ValueError : they are of another configuration.  RunFolderError : the file is no table.
    """
    file = folder / MEASURED
    if not file.is_file():
        return None
    try:
        found = pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{file} is not the table of a run: {error}") from None
    theirs, mine = found.attrs.pop(CONFIGURATION, None), configuration(unit)
    if theirs is None:
        return None  # written before configurations were: who knows what of
    if theirs != mine:
        where, got, wanted = first_difference(theirs, mine, "unit")
        raise ValueError(
            f"folder must hold measures of the same configuration, got {str(folder)!r} with {where} = {got!r}, "
            f"not {wanted!r}"
        )
    return found
