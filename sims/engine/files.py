"""Files that are there whole or not at all, and errors that say what could not be written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

PARTIAL = ".partial"
"""What a file is called while it is being written; left-overs of a killed run are swept away."""


class RunFolderError(OSError):
    """The folder of a run cannot be made, read or written; what it holds is whole."""


@contextmanager
def telling(folder: Path) -> Iterator[None]:
    """Turn the system's errors into one that names the folder and the reason."""
    try:
        yield
    except RunFolderError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        told = f"the run folder {folder} cannot be used: {reason}; the last checkpoint there, if any, is whole"
        failure = RunFolderError(told)
        failure.errno = error.errno
        raise failure from None


def write_whole(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write beside, sync, and rename in one step: a reader finds the old file or the new one, after a power cut too."""
    partial = path.with_name(path.name + PARTIAL)
    try:
        with open(partial, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path, value: Any) -> None:
    """JSON, keys sorted, one line a key."""
    write_whole(path, lambda file: file.write((json.dumps(value, indent=1, sort_keys=True) + "\n").encode()))


def sweep_partial(folder: Path) -> None:
    """Remove what a killed run left half written."""
    for file in folder.rglob(f"*{PARTIAL}"):
        file.unlink(missing_ok=True)
