"""Outcomes on disk, a file for each claim: the committed record, and the folder from which a
stopped run resumes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairfl._support.json_file import read_json, sealed, unsealed
from fairfl._support.whole_file import remove_partial, write_whole

if TYPE_CHECKING:
    from fairfl.claims.outcome import Outcome

COMMITTED = Path(__file__).parent / "record"
"""Written by ``fairfl claims check --record``, never by hand.

A file has the SHA-256 of its content, which detects damage and edits by hand. A forger who computes
the digest anew still has to forge the certificates: ``fairfl claims show`` verifies them, and
compares finding, level and summaries to theirs.
"""


class Altered(ValueError):
    """An outcome on disk was altered since it was written."""


def path_of(folder: Path, id: str) -> Path:
    """The file of a claim in a folder of outcomes."""
    return folder / f"{id.replace('/', '.')}.json"


def write(folder: Path, outcome: Outcome) -> Path:
    """Write an outcome in one step: readers see the old one or the new one, never a part."""
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(folder, outcome.id)
    remove_partial(folder, path.name)
    return write_whole(path, sealed(outcome.to_json()))


def read(folder: Path, id: str) -> Outcome | None:
    """The outcome of a claim, None where there is none.

    Errors: Altered where the file was altered since it was written, or is another claim's.
    """
    from fairfl.claims.outcome import Outcome  # sympy, which listing the claims need not wait for

    file = path_of(folder, id)
    if not file.is_file():
        return None
    try:
        outcome = Outcome.from_json(unsealed(read_json(file)))
        if outcome.id != id:
            raise ValueError("it is another claim's")
    except Exception as error:  # forged data may raise any exception
        raise Altered(f"{file} was altered since it was written: {error}") from None
    return outcome


def current(folder: Path, id: str, key: str) -> Outcome | None:
    """The outcome of a claim if it is unaltered and its key is that of the present sources."""
    try:
        outcome = read(folder, id)
    except Altered:
        return None
    return outcome if outcome is not None and outcome.key == key else None


def is_altered(folder: Path, id: str) -> bool:
    """Whether the outcome of the claim was altered since it was written."""
    try:
        read(folder, id)
    except Altered:
        return True
    return False
