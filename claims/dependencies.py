"""What a claim's outcome depends on: the definitions of fairfl that its module uses, directly or
not.

A definition counts by its syntax tree without comments and docstrings, so that a claim is checked
anew where what it uses changes, and nowhere else.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fairfl._support.manifest import sha256
from fairfl._support.own_parts import sources
from fairfl.claims.instances import rows_of

PROOFS = Path(__file__).parent / "proofs"
ALWAYS = ""
"""Name for statements that bind no name: they run whenever the module is used."""
LEAVES, IMPORTS = (ast.Name, ast.Constant), (ast.Import, ast.ImportFrom)
JUDGE = "fairfl.claims.outcome"
"""What verifies the certificates and tries the mutants of every claim."""
DISCOVERY = ("fairfl._support.own_parts", "fairfl._support.registry", "fairfl.checkout")
"""Modules that load others by name, which changes no verdict."""
PUBLISHED = "fairfl.studies.published_numbers"
"""The tables of the papers, which claims and studies share."""
Use = tuple[str, str]
"""A module, and a name in it."""


@cache
def key(module: str) -> str:
    """Digest of the definitions of fairfl that a module uses, imports inside functions included, of
    those that judge its claims, of their rows in instances.json, and of the files that they name:
    proofs, and files in their folder's data/. Of a user's module the modules of the user that it
    imports count as whole files.

    Modules that a registry finds by looking into a folder are not followed.
    """
    uses = sorted(reached(module))
    texts = [f"{owner}\0{name}\0{_part(owner, name).text}" for owner, name in uses]
    texts += (rows_of(f"{owner}:{name}") for owner, name in uses)
    file = None if module.startswith("fairfl.") else source(module)
    own = [f"{name}\0{digest}" for name, digest in sources(module, file).items()] if file else []
    return sha256("\0".join([*texts, *own[1:]]).encode())[:16]


@cache
def reached(module: str) -> frozenset[Use]:
    """The definitions that a module uses, with ``JUDGE``'s. ValueError: one has no source."""
    reachable: set[Use] = set(reached(JUDGE)) if module != JUDGE else set()
    todo = _all(module) - reachable
    while todo:
        reachable |= todo
        todo = set[Use]().union(*(_part(*use).uses for use in todo)) - reachable
        todo = {use for use in todo if use[0] not in DISCOVERY}
    return frozenset(reachable)


@cache
def written(folder: str, *functions: str) -> str:
    """What the author of claims in a folder, "fairfl.claims.fedfb", wrote of definitions,
    "MODULE:NAME": the syntax trees of them, of all that they use in the folder, and of ``PAPER``,
    and the published tables that these name.
    """
    todo, seen = {(folder, "PAPER"), *(tuple(f.split(":")) for f in functions)}, set[Use]()
    while todo:
        seen |= todo
        uses = set[Use]().union(*(_part(*use).uses for use in todo)) - seen
        todo = {use for use in uses if f"{use[0]}.".startswith((f"{folder}.", f"{PUBLISHED}."))}
    return "\0".join(_part(*use).text for use in sorted(seen))


@cache
def source(module: str) -> Path | None:
    """The file of a module, None where there is none; no more than its package is imported."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    origin = spec.origin if spec is not None else None
    return Path(origin) if origin and origin.endswith(".py") else None


@dataclass
class _Part:
    """What binds one name at a module's top level: its syntax tree as text, and what it uses."""

    text: str = ""
    names: set[str] = field(default_factory=set)
    uses: set[Use] = field(default_factory=set)


@cache
def _module(module: str) -> dict[str, _Part]:
    """The top-level names of a module, with imports inside functions, without those for types."""
    path = source(module)
    if path is None:
        raise ValueError(f"module must have a source file, got {module}")
    parts: dict[str, _Part] = defaultdict(_Part, {ALWAYS: _Part()})
    for statement in ast.parse(path.read_bytes()).body:
        for_types = isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test)
        if for_types or _is_docstring(statement):
            continue
        text, nodes = _flat(statement)
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        bindings = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            bindings = {statement.name}
        for node in nodes:
            if isinstance(node, ast.Constant):
                text += _data(path, node.value)
            for alias in getattr(node, "names", ()):
                imported = f"{getattr(node, 'module', '')}.{alias.name}".lstrip(".")
                owner, _, original = imported.rpartition(".")
                parts[alias.asname or alias.name].text += imported
                if imported.startswith("fairfl."):
                    parts[alias.asname or alias.name].uses.add((owner, original))
        if not isinstance(statement, IMPORTS):
            for binding in bindings or {ALWAYS}:
                parts[binding].text += text
                parts[binding].names |= names
    for part in parts.values():
        part.uses |= {(module, binding) for binding in (*part.names, ALWAYS) if binding in parts}
    return dict(parts)


def _part(owner: str, name: str) -> _Part:
    parts = _module(owner)
    if name in parts:
        return parts[name]
    inner = f"{owner}.{name}"
    return _Part(uses=_all(inner if source(inner) else owner))


def _all(module: str) -> set[Use]:
    return {(module, name) for name in _module(module)}


def _flat(statement: ast.AST) -> tuple[str, list[ast.AST]]:
    """A syntax tree as text, alike for every Python; its names, constants and imports."""
    text: list[object] = []
    nodes: list[ast.AST] = []
    todo: list[object] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            children = [child for child in node if not _is_docstring(child)]
            text.append(len(children))
            todo += children
        elif isinstance(node, LEAVES):
            nodes.append(node)
            text.append((node.id,) if isinstance(node, ast.Name) else (0, node.value))
        elif isinstance(node, ast.AST):
            if isinstance(node, IMPORTS):
                nodes.append(node)
            text.append(type(node).__name__)
            for name in node._fields:
                value = getattr(node, name, None)
                if value and name != "ctx":
                    text.append(name)
                    todo.append(value)
        else:
            text.append(node)
    return repr(text), nodes


def _is_docstring(node: object) -> bool:
    """Whether a node is a string that stands alone."""
    return type(node) is ast.Expr and type(getattr(node.value, "value", 0)) is str


def _data(module: Path, name: object) -> str:
    """Digest of the file that a string names, empty where it names none."""
    if not (isinstance(name, str) and name.endswith((".json", ".v"))):
        return ""
    files = (folder / name for folder in (PROOFS, module.parent / "data"))
    return next((sha256(file) for file in files if file.is_file()), "")
