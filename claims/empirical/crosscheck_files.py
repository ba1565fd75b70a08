"""The files that ``fairfl crosscheck --record`` writes, one for each study; no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data"
"""Of the files; a claim that names one is checked anew where the file has changed
(``fairfl.claims.sources``).
"""


@cache
def load(name: str) -> dict[str, Any]:
    """The data of a file, "STUDY.json"; not to be changed by who reads it.

    Errors: FileNotFoundError, which says what writes it.
    """
    try:
        return json.loads((FOLDER / name).read_text("utf-8"))
    except FileNotFoundError:
        study = name.removesuffix(".json")
        raise FileNotFoundError(
            f"{name} is not there: fairfl crosscheck {study} --record writes it"
        ) from None


PARTS = ("seen", "unseen")
"""Of the seeds: those on which a claim's bounds were set, and those that had never been run when
they were.
"""


def in_part(seed: int, runs: Mapping[str, Any], part: str) -> bool:
    """Whether a seed belongs to a part; "seen" of the file's ``runs`` is how many of the first
    seeds were seen.
    """
    return (seed < runs["seen"]) == (part == "seen")


def confirmed_on(runs: Mapping[str, Any], last: int) -> str:
    """Which seeds set the bounds, and which came after, up to ``last``; for scopes and notes."""
    seen = runs["seen"]
    first = "seed 0" if seen == 1 else f"seeds 0 to {seen - 1}"
    rest = f"seed {seen}" if last == seen else f"seeds {seen} to {last}"
    return f"bounds set on {first}, confirmed on {rest} alone"
