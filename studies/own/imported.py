"""A user's own Python files, whose algorithms, models, data and schedules a TOML file may name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from fairfl._support.checks import existing_file
from fairfl.sims.runs.run import IMPORTED


def import_files(paths: Sequence[str]) -> None:
    """Run each file once in this process, as a module of its own.

    Only who calls fairfl can name a file (``--import``): a TOML file never does. Runs keep its
    digest, so that none goes on with other code. Errors: OSError for a file that is not there,
    ValueError for one that cannot be run.
    """
    for path in paths:
        file = existing_file(path).resolve()
        name = f"fairfl_import_{sha256(str(file).encode()).hexdigest()[:16]}"
        if name in sys.modules:
            continue
        spec = spec_from_file_location(name, Path(file))
        if spec is None or spec.loader is None:
            raise ValueError(f"--import must name a Python file (.py), got {path}")
        sys.modules[name] = module_from_spec(spec)  # before it runs: annotations are looked up
        digest = sha256(file.read_bytes()).hexdigest()
        try:
            spec.loader.exec_module(sys.modules[name])
        except BaseException as error:
            del sys.modules[name]
            if isinstance(error, Exception):
                raise ValueError(
                    f"--import {path} cannot be run: {type(error).__name__}: {error}"
                ) from error
            raise
        IMPORTED[file.name] = digest
