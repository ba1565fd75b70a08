"""What archives hold, read into memory and never onto the disk: with a limit, and refused where a
name leads outside.

A file that was swapped on its way may unpack to more than a machine holds. Every function here
raises ``ValueError`` for more than ``MOST_BYTES`` or ``MOST_MEMBERS``, before it reads that much.
"""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

MOST_BYTES = 2 << 30
"""Of all members together; the largest known, CINIC-10, has some 0.7 GB."""
MOST_MEMBERS = 500_000
"""CINIC-10 has 270,000 images."""


def _within(members: int, size: int) -> None:
    if members > MOST_MEMBERS or size > MOST_BYTES:
        raise ValueError(
            f"an archive must hold at most {MOST_MEMBERS} members and {MOST_BYTES} bytes, got "
            f"{members} and {size}"
        )


def tar_members(path: Path) -> Iterator[tuple[str, Any]]:
    """The name of every file of a tar archive, links left out, and a callable for its content."""
    count = size = 0
    with tarfile.open(path) as archive:
        for member in archive:
            name = PurePosixPath(member.name)
            if name.is_absolute() or ".." in name.parts:
                raise ValueError(f"an archive's members must lie inside of it, got {member.name!r}")
            count, size = count + 1, size + member.size
            _within(count, size)
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name, file.read


def zip_member(archive: bytes, name: str) -> bytes:
    """One member of a zip archive; KeyError where there is none, BadZipFile if it is none."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        _within(len(opened.infolist()), opened.getinfo(name).file_size)
        return opened.read(name)


def gunzip(path: Path) -> bytes:
    """The content of a gzip file."""
    with gzip.open(path) as file:
        content = file.read(MOST_BYTES + 1)
    _within(1, len(content))
    return content


def npz(path: Path) -> dict[str, Any]:
    """The arrays of an npz file, without pickles."""
    with zipfile.ZipFile(path) as archive:
        known = archive.infolist()
        _within(len(known), sum(member.file_size for member in known))
    # a damaged one stays open otherwise
    with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as content:
        return {name: content[name] for name in content.files}
