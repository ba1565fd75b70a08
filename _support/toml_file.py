"""TOML files as tables; invalid TOML is an error that names the file."""

import tomllib
from pathlib import Path
from typing import Any

from fairfl._support.json_file import read_bounded


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file. ValueError: no TOML, or nested too deeply. OSError."""
    name = Path(path).name
    try:
        return tomllib.loads(read_bounded(path).decode())
    except ValueError as error:
        # of the syntax, of the encoding, of an integer with thousands of digits
        raise ValueError(f"{name} is not a TOML file: {error}") from error
    except RecursionError:
        raise ValueError(f"{name} must not nest arrays and tables hundreds deep") from None
