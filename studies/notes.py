"""What experiments say of themselves: the sentences of data/notes.toml, by paper and subject."""

from functools import cache
from pathlib import Path
from typing import Any

from fairfl._support.toml_file import read_toml


@cache
def _texts() -> dict[str, dict[str, list[str]]]:
    return read_toml(Path(__file__).parent / "data" / "notes.toml")


def notes(paper: str, *subjects: str, **values: Any) -> tuple[str, ...]:
    """The sentences of these subjects, with the ``values`` in the places that are named by them."""
    return tuple(text.format(**values) for s in subjects for text in _texts()[paper][s])
