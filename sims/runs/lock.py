"""One process at a time in a run's folder."""

from __future__ import annotations

import errno
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairfl.sims.runs.files import RunFolderError, telling

try:
    import fcntl
except ImportError:  # Windows, where nothing keeps two processes apart
    fcntl = None

NAME = "run.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold ``folder/run.lock``, which names this process, and remove it in the end.

    The lock is the system's (``flock``): it goes with the process that holds it, however that ends, so that a file that
    was left behind by a killed one is taken over. A folder that may only be read is not locked: nobody can change a run
    there.

    Errors: RunFolderError where another process (or another run in this one) is in the folder.
    """
    with telling(folder):
        held = _take(folder)
    try:
        yield
    finally:
        if held is not None:
            (folder / NAME).unlink(missing_ok=True)  # before it is let go, so that no other's file goes
            os.close(held)


def _take(folder: Path) -> int | None:
    """The open file that holds the lock; None where there is none to hold."""
    if fcntl is None:
        return None
    path = folder / NAME
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            if error.errno == errno.EROFS or (error.errno == errno.EACCES and not path.exists()):
                return None
            raise
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is(file, path):
                os.truncate(file, 0)
                os.write(file, f"process {os.getpid()} on {platform.node() or 'this machine'}\n".encode())
                return file
        except BlockingIOError:
            owner = os.pread(file, 200, 0).decode("utf-8", "replace").strip() or "another process"
            os.close(file)
            told = f"the run folder {folder} is in use by {owner}: wait for its end, or take another folder"
            raise RunFolderError(told) from None
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # whoever had it removed it while we came: there may be a new one


def _is(file: int, path: Path) -> bool:
    """Whether the open file is still the one that is found there."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
