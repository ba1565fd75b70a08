"""The modules that a claim's outcome depends on: its own, and all of fairfl that it imports, directly or not."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_IMPORT = re.compile(
    r"^\s*(?:from\s+(fairfl[\w.]*)\s+import\s+(\([^)]*\)|[^\n#]+)|import\s+(fairfl[\w.]*))", re.MULTILINE
)
_DATA = re.compile(r'"([\w-]+\.json)"')


def key(module: str) -> str:
    """Digest of the module's source and of all that it imports from fairfl, imports inside functions included.

    Modules that a registry finds by looking into a folder are not followed.
    """
    total = hashlib.sha256()
    for name in sorted(reached(module)):
        total.update(f"{name}\0{digest(name)}\0".encode())
    return total.hexdigest()[:16]


def reached(module: str) -> set[str]:
    """The modules of fairfl that are imported when all of ``module`` runs, itself included."""
    found: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(imported(name))
    return found


@cache
def imported(module: str) -> tuple[str, ...]:
    """The modules of fairfl that the source of ``module`` names."""
    path = source(module)
    if path is None:
        return ()
    names: set[str] = set()
    for origin, what, plain in _IMPORT.findall(path.read_text("utf-8")):
        base = origin or plain
        names.add(base)
        for part in what.strip("() \n").split(","):
            child = f"{base}.{part.split(' as ')[0].strip()}"
            if part.strip() and source(child) is not None:
                names.add(child)
    return tuple(sorted(name for name in names if source(name) is not None))


@cache
def source(module: str) -> Path | None:
    """The file of a module, without importing more than its package; None where there is no such module."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


@cache
def digest(module: str) -> str:
    """Digest of one module's source, and of the files of its folder's data/ that it names."""
    path = source(module)
    if path is None:
        return ""
    text = path.read_bytes()
    total = hashlib.sha256(text)
    for name in sorted(set(_DATA.findall(text.decode("utf-8")))):
        data = path.parent / "data" / name
        if data.is_file():
            total.update(data.read_bytes())
    return total.hexdigest()
