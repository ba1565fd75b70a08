"""One process at a time in a run's folder."""

from __future__ import annotations

import errno
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from fairfl.sims.runs.files import RunFolderError, telling

NAME = "run.lock"
PATIENCE = 0.1
"""Seconds: whoever ends just now removes the file, and it is tried again."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold ``folder/run.lock``, which names this process, and remove it in the end.

    The lock is the system's: it goes with the process that holds it, however that ends, so that a
    file that was left behind by a killed one is taken over. A folder that may only be read is not
    locked: nobody can change a run there.

    Errors: RunFolderError where another process (or another run in this one) is in the folder.
    """
    path = folder / NAME
    lock = FileLock(path, timeout=PATIENCE)
    with telling(folder):
        held = _take(lock, path)
    try:
        yield
    finally:
        if held:
            with suppress(PermissionError):  # Windows removes no open file
                path.unlink(missing_ok=True)  # before it is let go, so that no other's file goes
            lock.release()


def _take(lock: FileLock, path: Path) -> bool:
    """Whether the lock is held now; not where there is none to hold."""
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
        told = (
            f"the run folder {path.parent} is in use by {owner}: wait for its end, or take "
            "another folder"
        )
        raise RunFolderError(told) from None
    except OSError as error:
        if error.errno == errno.EROFS or (error.errno == errno.EACCES and not path.exists()):
            return False
        raise
