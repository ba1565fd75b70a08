"""TOML files as tables; invalid TOML is an error that names the file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from fairfl._support.checks import existing_file


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises
    ------
    ValueError : a file that is not TOML, or nested too deeply to be read.  OSError : it cannot be
        read; ``FileNotFoundError`` if there is none.
    """
    file = existing_file(path)
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except ValueError as error:
        # of the syntax, of the encoding, of an integer with thousands of digits
        raise ValueError(f"{file.name} is not a TOML file: {error}") from error
    except RecursionError:
        raise ValueError(f"{file.name} must not nest arrays and tables hundreds deep") from None
