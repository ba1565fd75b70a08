"""The files of a run's folder, and errors that say what could not be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairfl._support.manifest import sealed
from fairfl._support.whole_file import PARTIAL, write_whole


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
        reason = (error.strerror or str(error)) + (
            f" ({Path(error.filename).name})" if error.filename else ""
        )
        told = (
            f"the run folder {folder} cannot be used: {reason}; the last checkpoint there, "
            "if any, is whole"
        )
        failure = RunFolderError(told)
        failure.errno = error.errno
        raise failure from None


def write_sealed(path: Path, value: dict[str, Any]) -> None:
    """An object of JSON with its own digest."""
    write_whole(path, sealed(value), sync=True)


def sweep_partial(folder: Path) -> None:
    """Remove what a killed run left half written."""
    for file in folder.rglob(f"*{PARTIAL}"):
        file.unlink(missing_ok=True)
