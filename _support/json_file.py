"""The one reader of JSON that was written earlier, and its seal: an object's SHA-256, kept in it.

A seal detects damage and edits by hand, not forgery.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairfl._support.checks import existing_file, shown

SEAL = "sha256"
"""The key of a sealed object's own digest."""
MOST_BYTES, MOST_DEPTH = 2**28, 50
"""Size of the largest text, and largest number of arrays and objects in each other."""


def parsed(text: str | bytes) -> Any:
    """The value of a text of JSON; ValueError for another text, and a larger or deeper one."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    if text[:2] == b"\x1f\x8b":
        raise ValueError("it is compressed")
    try:
        data = json.loads(text)
        level = _parts([data])
        for _ in range(MOST_DEPTH):
            level = [part for value in level for part in _parts(value)]
        if level:
            raise RecursionError
    except RecursionError:
        raise ValueError(f"it nests arrays and objects more than {MOST_DEPTH} deep") from None
    except ValueError as error:
        raise ValueError(f"it is not JSON ({error})") from None
    return data


def _parts(value: dict[str, object] | list[object]) -> list[Any]:
    """The objects and arrays in an object or array."""
    parts = value.values() if isinstance(value, dict) else value
    return [part for part in parts if isinstance(part, (dict, list))]


def read_bounded(path: str | Path) -> bytes:
    """The content of a file, or of a larger one so much that :func:`parsed` refuses it."""
    with existing_file(path).open("rb") as stream:
        return stream.read(MOST_BYTES + 1)


def read_json(path: str | Path, kind: str = "JSON file of fairfl") -> Any:
    """The value in a file of JSON; ValueError says that the file is no ``kind``, and why."""
    text = read_bounded(path)
    try:
        return parsed(text)
    except ValueError as error:
        raise ValueError(f"{Path(path).name} is no {kind}: {error}") from None


def list_of(name: str, value: object, kinds: tuple[type, ...], words: str) -> list[Any]:
    """A field's value, which must be a list of these ``kinds``, called ``words``."""
    if not isinstance(value, list) or not all(isinstance(part, kinds) for part in value):
        raise ValueError(f"{name} must be a list of {words}, got {shown(value)}")
    return value


def sealed(data: Mapping[str, object]) -> str:
    """An object of JSON as text, with the digest of all else in it under ``SEAL``."""
    return json.dumps({**data, SEAL: _digest(data)}, ensure_ascii=False, indent=1) + "\n"


def unsealed(data: object) -> dict[str, Any]:
    """A sealed object without its digest; ValueError where the two do not fit."""
    if not isinstance(data, dict) or SEAL not in data:
        raise ValueError(f"it has no {SEAL}, which fairfl writes")
    content = {key: value for key, value in data.items() if key != SEAL}
    if data[SEAL] != _digest(content):
        raise ValueError(f"it was altered after it was written: its {SEAL} differs")
    return content


def _digest(data: Mapping[str, object]) -> str:
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
