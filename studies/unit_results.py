"""Results of a unit outside of the engine, kept with its arguments."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from pathlib import Path
from types import FunctionType

import pandas as pd

from fairfl._support.checks import shown
from fairfl._support.manifest import SUFFIX, finished, write_piece
from fairfl._support.own_parts import DIGESTS
from fairfl.sims.data.fetch import same_data
from fairfl.sims.runs.files import telling
from fairfl.sims.runs.run import first_difference, plain
from fairfl.studies.experiment import Unit

MEASURED = "measured.parquet"
MANIFEST = f"measured{SUFFIX}"
CONFIGURATION, FILES = "configuration", "files"
"""Inputs that the manifest lists."""


def configuration(unit: Unit) -> dict[str, object]:
    """A unit's configuration, as JSON: the function that ``make`` calls, by name, all of its
    arguments, defaults too, and the digests of a user's own files.
    """
    return {
        **_call(unit.make),
        "dataset": unit.dataset,
        "seed": unit.seed,
        **({"imported": dict(DIGESTS)} if DIGESTS else {}),
    }


def _call(function: Callable[..., object]) -> dict[str, object]:
    """A function by name, with the arguments that it has already."""
    call = function if isinstance(function, partial) else partial(function)
    bound = signature(call.func).bind_partial(*call.args, **call.keywords)
    bound.apply_defaults()
    arguments = {
        name: _call(value) if isinstance(value, (partial, FunctionType)) else plain(value)
        for name, value in bound.arguments.items()
    }
    return {"function": f"{call.func.__module__}.{call.func.__qualname__}", "arguments": arguments}


def keep(folder: Path, unit: Unit, measures: pd.DataFrame, files: Mapping[str, str]) -> None:
    """Write the measures into the unit's folder; ``files`` as ``data_read`` has them.
    RunFolderError where the folder cannot be written.
    """
    inputs = {CONFIGURATION: configuration(unit), FILES: dict(files)}
    with telling(folder):
        write_piece(folder / MANIFEST, {MEASURED: measures.to_parquet()}, inputs)


def stored_measures(folder: Path, unit: Unit) -> pd.DataFrame | None:
    """The measures of this unit that the folder holds, from data that have not changed since; None
    where it holds none. Altered files are reported; ValueError for those of another configuration.
    """
    inputs = finished(folder / MANIFEST)
    if inputs is None or not same_data(inputs[FILES]):
        return None
    recorded, current = inputs[CONFIGURATION], configuration(unit)
    if recorded != current:
        where, got, expected = first_difference(recorded, current, "unit")
        raise ValueError(
            f"folder must hold measures of the same configuration, got {str(folder)!r} with "
            f"{where} = {shown(got)}, not {shown(expected)}"
        )
    return pd.read_parquet(folder / MEASURED)
