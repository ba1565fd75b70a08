"""Find a data file: in a local folder, in the cache, or at its public source.

The order is: the folder given by the caller; else that of `FAIRFL_DATA`; else the cache; else a
download into the cache, over https, verified by the SHA-256 of the public file where it is known
and else by its content, and moved into place in one step. A file in `FAIRFL_DATA` or in the cache
is verified at every use; a folder that the caller names is not. (Pooch verifies no member of an
archive, and follows redirects to plain http.)
"""

import io
import logging
import os
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from fairfl._support.cache_folder import cache_folder
from fairfl._support.manifest import sha256
from fairfl._support.whole_file import write_whole

ENVIRONMENT = "FAIRFL_DATA"
"""The environment variable that names a local folder of data files."""
TIMEOUT = 30.0
"""Seconds without an answer after which a download is given up."""
CHUNK = 1 << 16
SCHEMES = ("https", "file")
"""Schemes of the addresses that are asked. Anybody on the way can answer plain http."""
Folder = str | Path | None
"""The only folder to look in; None: ``FAIRFL_DATA``, the cache, the public source."""
Progress = Callable[[str, int, int | None], None]
"""Called during a download: file, bytes read so far, and the total (None where unknown)."""


class DataUnavailable(OSError):
    """A data file is neither on this machine nor to be had from its source."""


class ChecksumMismatch(DataUnavailable):
    """A file is not the published one; a download of it was not stored."""


@dataclass(frozen=True)
class Remote:
    """A public file, and how to verify it.

    Parameters
    ----------
    path : where the file lies in a data folder and in the cache, such as "adult/adult.data".
    sources : each an address, followed by the members to unpack where it leads to a zip archive (of
        archives). Tried in order; empty where there is no public source.
    digests : SHA-256 of the public file (unpacked), and of copies that hold the same; empty where
        none is known for certain.
    check : called with the path of a download; raises `ValueError` for other content.
    """

    path: str
    sources: tuple[tuple[str, ...], ...] = ()
    digests: tuple[str, ...] = ()
    check: Callable[[Path], None] | None = None


def locate(
    choices: Sequence[Remote], folder: Folder = None, progress: Progress | None = None
) -> Path:
    """The path of a readable copy of one of `choices`, the preferred first, downloaded where need
    be.

    Parameters
    ----------
    folder : look here and nowhere else: no environment variable, no cache, no network.

    Raises
    ------
    DataUnavailable : no copy; the message names the file, `FAIRFL_DATA` and the source.
    ChecksumMismatch : a source answered with something else than the published file, or
        `FAIRFL_DATA` or the cache holds such.
    """
    names = OR.join(choice.path for choice in choices)
    local = _local([choice.path for choice in choices], folder)
    if local is not None:
        position, path = local
        digest = sha256(path)
        digests = choices[position].digests
        if folder is None and digests and digest not in digests:
            raise ChecksumMismatch(
                f"{path} is not the published file: its SHA-256 is {digest}, not "
                f"{OR.join(digests)}; remove it, or let {ENVIRONMENT} name another folder"
            )
        _note(names, digest, folder)
        return path
    if folder is not None:
        raise DataUnavailable(f"{names} is not in the folder {str(folder)!r}")
    error_class, failures = DataUnavailable, list[str]()
    for choice in choices:
        for source in choice.sources:
            try:
                path = _download(choice, source, progress)
                _note(names, sha256(path), folder)
                return path
            except (OSError, HTTPException, ValueError) as error:
                if isinstance(error, ChecksumMismatch):
                    error_class = ChecksumMismatch
                if isinstance(error, urllib.error.HTTPError):
                    error.close()  # it holds the connection open
                failures.append(f"{source[0]}: {error}")
    help_ = f"set {ENVIRONMENT} to a folder that holds it, or allow the download"
    raise error_class(
        f"{names} is not available: {help_}. {'; '.join(failures) or 'It has no public source'}"
    )


def at_hand(folder: str) -> bool:
    """Whether ``FAIRFL_DATA`` or the cache has a folder, such as "cifar-10", with a file in it."""
    return any(any((root / folder).glob("*")) for root in _roots(None))


def _local(paths: Sequence[str], folder: Folder) -> tuple[int, Path] | None:
    """The first of the files that is on this machine, and which it is; None where none is."""
    for root in _roots(folder):
        for position, path in enumerate(paths):
            if (root / path).is_file():
                return position, root / path
    return None


OR = " or "
_notes: ContextVar[tuple[dict[str, str], ...]] = ContextVar("notes", default=())


@contextmanager
def data_read() -> Iterator[dict[str, str]]:
    """Record the files that `locate` returns and `note_file` gets in the block: SHA-256 by name."""
    notes: dict[str, str] = {}
    token = _notes.set((*_notes.get(), notes))
    try:
        yield notes
    finally:
        _notes.reset(token)


def note_file(path: Path) -> None:
    """Note a file of the user's that is read; a pipe has no content to compare later."""
    if _notes.get() and path.is_file():
        _note(path.name, sha256(path), path.parent)


def _note(names: str, digest: str, folder: Folder) -> None:
    for notes in _notes.get():
        notes[names if folder is None else f"{Path(folder).absolute()}: {names}"] = digest


def same_data(notes: Mapping[str, str]) -> bool:
    """Whether `locate` would return the same files, without a download; warns if not."""
    for names, digest in notes.items():
        folder, _, paths = names.rpartition(": ")
        try:
            local = _local(paths.split(OR), folder or None)
        except DataUnavailable:
            local = None
        if local is None or sha256(local[1]) != digest:
            logging.getLogger("fairfl").warning(
                "changed, so that what was made of it is made again: %s", names
            )
            return False
    return True


def _roots(folder: Folder) -> list[Path]:
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
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as opened:
                content = opened.read(member)
        except (zipfile.BadZipFile, KeyError) as error:
            raise ChecksumMismatch(f"no member {member!r} in a zip archive: {error}") from error
    digest = sha256(content)
    if remote.digests and digest not in remote.digests:
        raise ChecksumMismatch(f"SHA-256 is {digest}, not {OR.join(remote.digests)}")
    try:
        return write_whole(cache_folder() / remote.path, content, check=remote.check)
    except ValueError as error:
        raise ChecksumMismatch(f"the content is not the published file's: {error}") from error


def _read(address: str, path: str, progress: Progress | None) -> bytes:
    """Return the bytes at the address, reporting the progress."""
    parts: list[bytes] = []
    done = 0
    _must_be_safe(address)
    with urllib.request.build_opener(_Redirect).open(address, timeout=TIMEOUT) as response:
        announced = response.headers.get("Content-Length")
        total = int(announced) if announced is not None else None
        while part := response.read(CHUNK):
            parts.append(part)
            done += len(part)
            if progress is not None:
                progress(path, done, total)
    # http.client does not complain when it is read in parts
    if total is not None and done != total:
        raise urllib.error.URLError(f"the connection ended after {done} of {total} bytes")
    return b"".join(parts)


class _Redirect(urllib.request.HTTPRedirectHandler):
    """Follows redirects to allowed schemes only."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # pyright: ignore[reportMissingParameterType]
        _must_be_safe(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _must_be_safe(address: str) -> None:
    if urlsplit(address).scheme not in SCHEMES:
        raise ValueError(f"addresses must begin with {SCHEMES[0]}:, got {address}")
