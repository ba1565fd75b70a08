"""Manifests of finished outputs: SHA-256 of the files and of their inputs, kept beside them.

A manifest detects damage and edits by hand: a changed bit, a file that was cut, removed or
replaced. It does not detect somebody who computes the digests anew.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from fairfl._support.json_file import read_json, sealed, unsealed
from fairfl._support.whole_file import remove_partial, write_whole

SUFFIX = ".manifest.json"
"""End of a manifest's file name; the rest is the name of the output."""
Content = bytes | str | Callable[[BinaryIO], Any]


def sha256(content: bytes | Path) -> str:
    """SHA-256 of bytes, or of a file's."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests(files: Iterable[Path]) -> dict[str, str]:
    """SHA-256 by the name of the file."""
    return {file.name: sha256(file) for file in files}


def altered(folder: Path, digests: Mapping[str, str]) -> list[Path]:
    """The files of the folder that are missing or whose SHA-256 differs."""
    files = {folder / name: digest for name, digest in digests.items()}
    return [file for file, digest in files.items() if not file.is_file() or sha256(file) != digest]


def tell(files: Iterable[Path]) -> None:
    """Say, on standard error unless logging is set up, that what these files gave is made again."""
    for file in files:
        logging.getLogger("fairfl").warning("altered since it was written, done again: %s", file)


def write_piece(
    manifest: Path, contents: Mapping[str, Content], inputs: Mapping[str, object] | None = None
) -> list[Path]:
    """Write the files of a piece, by their names ``contents`` as ``write_whole`` takes them, beside
    its ``manifest``, and that last, with ``inputs``, what the piece was made from. Returns the
    files.

    A manifest that is there is removed first: while there is none, the piece is unfinished. So is
    what a killed process left of the files. Nobody else may be writing the same piece.
    """
    finished(manifest)  # tells what was altered
    manifest.unlink(missing_ok=True)
    for name in (*contents, manifest.name):
        remove_partial(manifest.parent, name)
    files = [write_whole(manifest.with_name(name), content) for name, content in contents.items()]
    write_whole(manifest, sealed({"inputs": dict(inputs or {}), "outputs": digests(files)}))
    return files


def finished(manifest: Path) -> dict[str, Any] | None:
    """The inputs of a piece; None where it is unfinished, or altered: that is told, and the
    manifest removed.
    """
    if not manifest.is_file():
        return None
    try:
        record = unsealed(read_json(manifest))
        changed = altered(manifest.parent, record["outputs"])
    except ValueError:
        record, changed = {}, [manifest]
    if not changed:
        return record["inputs"]
    tell(changed)
    manifest.unlink()
    return None
