"""The folder of a run: one process at a time, and errors that say what could not be written."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout


class RunFolderError(OSError):
    """The folder of a run cannot be made, read or written; its files are whole."""


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
        message = (
            f"the run folder {folder} cannot be used: {reason}; the last checkpoint there, "
            "if any, is whole"
        )
        failure = RunFolderError(message)
        failure.errno = error.errno
        raise failure from None


LOCK = "run.lock"
PATIENCE = 0.1
"""Seconds until another try: the process that ends just now removes the file."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold ``folder/run.lock``, and remove it in the end.

    The operating system releases the lock when the process ends, even if it is killed: a file left
    behind is taken over.

    Errors: RunFolderError where another process (or another run in this one) is in the folder.
    """
    path = folder / LOCK
    lock = FileLock(path, timeout=PATIENCE)
    with telling(folder):
        try:
            lock.acquire()
        except Timeout:
            raise RunFolderError(
                f"the run folder {folder} is in use by another process: wait for its end, or take "
                "another folder"
            ) from None
    try:
        yield
    finally:
        with suppress(PermissionError):  # Windows removes no open file
            # before the release, so that no other process's file is removed
            path.unlink(missing_ok=True)
        lock.release()
