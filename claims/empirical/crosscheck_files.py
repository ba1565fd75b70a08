"""The files that ``fairfl crosscheck --record`` writes, one for each study; no torch."""

from __future__ import annotations

import json
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
