"""The folder of a run: one process at a time, and errors that say what could not be written."""

import errno
import os
import platform
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
    """Hold ``folder/run.lock``, which names this process, and remove it in the end.

    The operating system releases the lock when the process ends, even if it is killed: a file left
    behind is taken over. A read-only folder is not locked: no process can change a run there.

    Errors: RunFolderError where another process (or another run in this one) is in the folder.
    """
    path = folder / LOCK
    lock = FileLock(path, timeout=PATIENCE)
    with telling(folder):
        is_locked = _take(lock, path)
    try:
        yield
    finally:
        if is_locked:
            with suppress(PermissionError):  # Windows removes no open file
                path.unlink(
                    missing_ok=True
                )  # before the release, so that no other process's file is removed
            lock.release()


def _take(lock: FileLock, path: Path) -> bool:
    """Take the lock; False in a folder that cannot be written, which needs none."""
    try:
        lock.acquire()
        with suppress(PermissionError):  # Windows locks the content too
            path.write_text(
                f"process {os.getpid()} on {platform.node() or 'this machine'}\n", "utf-8"
            )
        return True
    except Timeout:
        owner = "another process"
        with suppress(OSError):
            owner = path.read_text("utf-8", "replace").strip() or owner
        message = (
            f"the run folder {path.parent} is in use by {owner}: wait for its end, or take "
            "another folder"
        )
        raise RunFolderError(message) from None
    except OSError as error:
        if error.errno == errno.EROFS or (error.errno == errno.EACCES and not path.exists()):
            return False
        raise
