"""Outcomes on disk, a file a claim: the committed record, and the folder from which a stopped run goes on."""

from __future__ import annotations

import json
from pathlib import Path

from fairfl.claims.outcome import Outcome
from fairfl.theory.whole_file import write_whole

COMMITTED = Path(__file__).parent / "record"
"""Written by ``fairfl claims check --record``, never by hand."""


def path_of(folder: Path, id: str) -> Path:
    """The file of a claim in such a folder."""
    return folder / f"{id.replace('/', '.')}.json"


def write(folder: Path, outcome: Outcome) -> Path:
    """Write an outcome in one step: readers see the old one or the new one, never a part."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(outcome.to_json(), ensure_ascii=False, indent=1) + "\n"
    return write_whole(path_of(folder, outcome.id), text)


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
