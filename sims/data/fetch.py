"""Find a data file: in a local folder, in the cache, or at its public source.

The order is: the folder given by the caller; else the folder that the environment variable `FAIRFL_DATA` names; else
the cache; else a download into the cache. What is downloaded is verified before it is kept, by its SHA-256 where the
public file's is known and by its content where it is not, and moved into place in one step, so that an interrupted
or wrong download leaves nothing behind.
"""

import hashlib
import io
import os
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from fairfl.theory.whole_file import write_whole

ENVIRONMENT = "FAIRFL_DATA"
"""The environment variable that names a local folder of data files."""

TIMEOUT = 30.0
"""Seconds without an answer after which a download is given up."""

CHUNK = 1 << 16

Progress = Callable[[str, int, int | None], None]
"""Called during a download with the file, the bytes read so far, and the total (None where unknown)."""


class DataUnavailable(OSError):
    """A data file is neither on this machine nor to be had from its source."""


class ChecksumMismatch(DataUnavailable):
    """A download arrived and was not the published file; nothing of it was kept."""


@dataclass(frozen=True)
class Remote:
    """A public file, and how to know it.

    Parameters
    ----------
    path : str
        Where the file lies in a data folder and in the cache, such as "adult/adult.data".
    sources : tuple of tuple of str
        Each an address, followed by the members to unpack where it leads to a zip archive (of archives). Tried in
        order. Empty: the file has no public source, and is only ever found locally.
    sha256 : str, optional
        Of the public file (unpacked). None where it is not known for certain.
    check : callable, optional
        Called with the path of a download; raises `ValueError` if it is not the expected content.
    md5 : str, optional
        The same, where the publisher states this digest only. It tells a broken download, not a forged one.
    """

    path: str
    sources: tuple[tuple[str, ...], ...] = ()
    sha256: str | None = None
    check: Callable[[Path], None] | None = None
    md5: str | None = None


def cache_folder() -> Path:
    """Return the folder for downloads: `fairfl` in the platform's cache folder. It need not exist yet."""
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the XDG specification: a relative path is to be ignored
        return Path(xdg) / "fairfl"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "fairfl"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fairfl"
    return Path.home() / ".cache" / "fairfl"


def locate(choices: Sequence[Remote], folder: str | Path | None = None, progress: Progress | None = None) -> Path:
    """Return the path of a readable copy of one of `choices`, downloading it where need be.

    Parameters
    ----------
    choices : sequence of Remote
        Files that serve equally well, the preferred one first.
    folder : path, optional
        Look here and nowhere else: no environment variable, no cache, no network.
    progress : callable, optional
        See `Progress`.

    Raises
    ------
    DataUnavailable
        If no copy is found and none can be downloaded; the message names the file, `FAIRFL_DATA` and the source.
    ChecksumMismatch
        If a source answered with something else than the published file.
    """
    wanted = " or ".join(choice.path for choice in choices)
    for place in _places(folder):
        for choice in choices:
            if (place / choice.path).is_file():
                return place / choice.path
    if folder is not None:
        raise DataUnavailable(f"{wanted} is not in the folder {str(folder)!r}")
    kind = DataUnavailable
    failures: list[str] = []
    for choice in choices:
        for source in choice.sources:
            try:
                return _download(choice, source, progress)
            except (OSError, HTTPException, ValueError) as error:
                if isinstance(error, _Mismatch):
                    kind = ChecksumMismatch
                if isinstance(error, urllib.error.HTTPError):
                    error.close()  # it holds the connection open
                elif isinstance(error, urllib.error.URLError):
                    error = error.reason  # else wrapped in "<urlopen error ...>"
                failures.append(f"{source[0]}: {error}")
    help_ = f"set {ENVIRONMENT} to a folder that holds it, or allow the download"
    raise kind(f"{wanted} is not available: {help_}. {'; '.join(failures) or 'It has no public source'}")


class _Mismatch(ValueError):
    """What arrived is not the published file."""


def _places(folder: str | Path | None) -> list[Path]:
    """Return the local folders to look in, in order."""
    if folder is not None:
        return [Path(folder)]
    named = os.environ.get(ENVIRONMENT)
    if not named:
        return [cache_folder()]
    if not Path(named).is_dir():  # a mistyped variable should not turn into a download
        raise DataUnavailable(f"{ENVIRONMENT} must name an existing folder, got {named!r}")
    return [Path(named), cache_folder()]


def _download(remote: Remote, source: tuple[str, ...], progress: Progress | None) -> Path:
    """Fetch, unpack, verify, and only then move the file to its place in the cache."""
    address, *members = source
    content = _read(address, remote.path, progress)
    for member in members:
        content = _unpack(content, member)
    digest = hashlib.sha256(content).hexdigest()
    if remote.sha256 is not None and digest != remote.sha256:
        raise _Mismatch(f"SHA-256 is {digest}, of the published file {remote.sha256}")
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if remote.md5 is not None and digest != remote.md5:
        raise _Mismatch(f"MD5 is {digest}, of the published file {remote.md5}")
    target = cache_folder() / remote.path
    target.parent.mkdir(parents=True, exist_ok=True)

    def verify(path: Path) -> None:
        try:
            if remote.check is not None:
                remote.check(path)
        except ValueError as error:
            raise _Mismatch(f"the content is not the published file's: {error}") from error

    return write_whole(target, content, check=verify)


def _read(address: str, path: str, progress: Progress | None) -> bytes:
    """Return what the address answers, reporting as it comes."""
    parts: list[bytes] = []
    done = 0
    with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
        announced = answer.headers.get("Content-Length")
        total = int(announced) if announced is not None else None
        while part := answer.read(CHUNK):
            parts.append(part)
            done += len(part)
            if progress is not None:
                progress(path, done, total)
    if total is not None and done != total:  # http.client does not complain when it is read in parts
        raise urllib.error.URLError(f"the connection ended after {done} of {total} bytes")
    return b"".join(parts)


def _unpack(archive: bytes, member: str) -> bytes:
    """Return one member of a zip archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return opened.read(member)
    except (zipfile.BadZipFile, KeyError) as error:
        raise _Mismatch(f"no member {member!r} in a zip archive: {error}") from error
