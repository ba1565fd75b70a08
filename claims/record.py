"""Outcomes on disk, a file a claim: the committed record, and the folder from which a stopped run goes on."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from fairfl.claims.outcome import Outcome

COMMITTED = Path(__file__).parent / "record"
"""Written by ``fairfl claims check --record``, never by hand."""


def path_of(folder: Path, id: str) -> Path:
    """The file of a claim in such a folder."""
    return folder / f"{id.replace('/', '.')}.json"


def write(folder: Path, outcome: Outcome) -> Path:
    """Write an outcome in one step: readers see the old one or the new one, never a part."""
    file = path_of(folder, outcome.id)
    folder.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix=f".{file.name}.", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(outcome.to_json(), stream, ensure_ascii=False, indent=1)
            stream.write("\n")
        os.chmod(partial, 0o644)
        os.replace(partial, file)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return file


def read(folder: Path, id: str) -> Outcome | None:
    """The outcome of a claim, None where there is none, or none that can be read."""
    try:
        return Outcome.from_json(json.loads(path_of(folder, id).read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def current(folder: Path, id: str, key: str) -> Outcome | None:
    """The outcome of a claim if it was found with the sources as they are now."""
    outcome = read(folder, id)
    return outcome if outcome is not None and outcome.key == key else None
