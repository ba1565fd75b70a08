"""Writing files whole or not at all; errors that name the file that was read."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

PARTIAL = ".partial"
"""End of the name of a file that is being written. What a killed process left may be removed."""


@contextmanager
def of_file(path: str | Path) -> Iterator[None]:
    """Errors name the file that they are about."""
    try:
        yield
    except ValueError as error:
        name = Path(path).name
        raise ValueError(f"{name}: {error}" if name not in str(error) else str(error)) from None


def target_of(file: Path) -> Path:
    """The file to which links from ``file`` lead; OSError where something else is there."""
    target = Path(os.path.realpath(file))
    if os.path.lexists(target) and not target.is_file():
        raise OSError(f"{file} must be a regular file or new, and is a folder, device or pipe")
    return target


def write_whole(
    file: Path,
    content: bytes | str | Callable[[BinaryIO], Any],
    *,
    check: Callable[[Path], None] | None = None,
    sync: bool = False,
) -> Path:
    """Write a file in one step: readers see the old one or the new one, never a part.

    Parameters
    ----------
    file : its folder is made if missing. It has the rights that the umask leaves it. Links are
        followed.
    content : text goes out as UTF-8; a callable is given the open binary file.
    check : called with the path of what was written, before it takes its place; what it raises
        stops that.
    sync : whether old or new must survive a power cut, too.

    Errors: OSError as the system has it, and what ``content`` and ``check`` raise; the old file, if
    any, stays.
    """
    target = target_of(file)
    target.parent.mkdir(parents=True, exist_ok=True)
    # nobody else writes to that
    partial = target.with_name(f".{target.name}.{os.urandom(6).hex()}{PARTIAL}")
    try:
        with open(partial, "xb") as stream:
            if callable(content):
                content(stream)
            else:
                stream.write(content.encode() if isinstance(content, str) else content)
            if sync:
                stream.flush()
                os.fsync(stream.fileno())
        if check is not None:
            check(partial)
        os.replace(partial, target)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = error.filename or str(file)  # a full disk says not what it is full for
        raise
    if sync and os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return file


def remove_partial(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes left half written; nobody else may be writing it."""
    for left in folder.glob(f".{escape(name) if name else '*'}.*{PARTIAL}"):
        left.unlink(missing_ok=True)
