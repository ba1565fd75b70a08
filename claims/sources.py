"""The modules that a claim's outcome depends on: its own, and all of fairfl that it imports,
directly or not.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_DATA = re.compile(r'"([\w-]+\.(?:json|v))"')
PROOFS = Path(__file__).parent / "proofs"
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where statements hold statements."""


def key(module: str) -> str:
    """Digest of the module's source and of all that it imports from fairfl, imports inside
    functions included.

    Modules that a registry finds by looking into a folder are not followed.
    """
    total = hashlib.sha256()
    for name in sorted(reached(module)):
        total.update(f"{name}\0{digest(name)}\0".encode())
    return total.hexdigest()[:16]


def reached(module: str) -> set[str]:
    """The modules of fairfl that are imported when all of ``module`` runs, itself included.

    Errors: ValueError where it imports none: every claim imports what claims are made of.
    """
    found: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(imported(name))
    if len(found) == 1:
        raise ValueError(f"{module} must import modules of fairfl, found none in {source(module)}")
    return found


@cache
def imported(module: str) -> tuple[str, ...]:
    """The modules of fairfl that the source of ``module`` imports.

    Errors: ValueError where a module has no source.
    """
    names: set[str] = set()
    for statement in _statements(ast.parse(_source(module).read_bytes())):
        if isinstance(statement, ast.Import):
            names.update(alias.name for alias in statement.names if _ours(alias.name))
        elif isinstance(statement, ast.ImportFrom) and _ours(statement.module or ""):
            names.add(str(statement.module))
            inner = (f"{statement.module}.{alias.name}" for alias in statement.names)
            # the others are names in the module
            names.update(name for name in inner if source(name) is not None)
    return tuple(sorted(names))


def _ours(module: str) -> bool:
    return module.partition(".")[0] == "fairfl"


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement, without the expressions, which import nothing: three times faster than
    ``ast.walk``.
    """
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for block in _BLOCKS:
            todo += getattr(node, block, ())


@cache
def source(module: str) -> Path | None:
    """The file of a module, without importing more than its package; None where there is no such
    module.
    """
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    return (
        Path(spec.origin)
        if spec is not None and spec.origin and spec.origin.endswith(".py")
        else None
    )


def _source(module: str) -> Path:
    path = source(module)
    if path is None:
        raise ValueError(f"module must have a source file, got {module}")
    return path


@cache
def digest(module: str) -> str:
    """Digest of one module's source, and of the files that it names: proofs, and those of its
    folder's data/.
    """
    path = _source(module)
    text = path.read_bytes()
    total = hashlib.sha256(text)
    for name in sorted(set(_DATA.findall(text.decode("utf-8")))):
        data = (PROOFS if name.endswith(".v") else path.parent / "data") / name
        if data.is_file():
            total.update(data.read_bytes())
    return total.hexdigest()
