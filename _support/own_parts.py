"""A user's own parts: modules that ``--import`` names or installed packages offer."""

import ast
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from importlib.util import find_spec, module_from_spec, resolve_name, spec_from_file_location
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any

from fairfl._support.checks import existing_file, shown

KINDS = "algorithms claims data experiments figures models objectives studies".split()
"""An installed package offers a module by an entry point of the group ``fairfl.KIND``."""
VARIABLE = "FAIRFL_IMPORT"
"""Environment variable: what ``--import`` named, as JSON, for the processes of ``--jobs``."""
DIGESTS: dict[str, str] = {}
"""SHA-256 of imported modules and of what they import: no run goes on with other code."""
INSTALLED = {"site-packages", "dist-packages"}
"""Folders of installed packages, whose modules are not a user's."""
CALLED = re.compile(r"\b(\w+)\(\) (?:takes|missing|got an)|instantiate abstract class (\w+)")
"""Matches Python's message about a call with wrong arguments."""
PLACES: set[str] = set()
"""Files of the imported modules."""


def place_of(error: BaseException) -> str | None:
    """The imported file that an error comes from, with the line that ran, if one did; None for an
    error from elsewhere. Where a call with wrong arguments failed before a line ran, all imported
    files that define what was called.
    """
    if place := getattr(error, "place", None):  # of an error that came from another process
        return place
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        if frame.f_code.co_filename in PLACES:
            return f"{Path(frame.f_code.co_filename).name}, line {line}"
    called = CALLED.search(str(error)) if isinstance(error, TypeError) else None
    if called is None:
        return None
    definition = re.compile(rf"(def|class) {called[1] or called[2]}\b")
    files = {p.name for p in map(Path, PLACES) if definition.search(p.read_text("utf-8"))}
    return " or ".join(sorted(files)) or None


def placed(function: Callable[..., Any], *task: Any) -> Any:
    """``function(*task)`` in a process of its own: an error keeps its place on the way back."""
    try:
        return function(*task)
    except Exception as error:
        error.place = place_of(error)  # type: ignore[attr-defined]
        raise


def import_parts(names: Sequence[str]) -> None:
    """Import Python files (.py) or modules by name, here and in processes that are started later.

    Only who calls fairfl can name them: an input file never does. OSError: no such file.
    ValueError: it cannot be run, or has the name of another module.
    """
    before = _named()
    modules = [str(existing_file(n).resolve()) if n.endswith(".py") else n for n in names]
    for module, name in zip(modules, names, strict=True):
        _imported(module, name)
    if modules:
        os.environ[VARIABLE] = json.dumps(list(dict.fromkeys([*before, *modules])))


def own_modules(kind: str) -> tuple[ModuleType, ...]:
    """The modules that may hold parts of a kind: imported ones, then offered ones."""
    return tuple(dict.fromkeys([*named_modules(), *_offered(kind)]))


@cache
def _offered(kind: str) -> list[ModuleType]:
    """The modules that installed packages offer; finding them takes some milliseconds."""
    modules = []
    for entry in sorted(entry_points(group=f"fairfl.{kind}"), key=lambda entry: entry.value):
        try:
            modules.append(import_module(entry.module))
        except Exception as error:
            raise ValueError(
                f"entry point {entry.name} = {entry.value} of group fairfl.{kind} cannot be "
                f"imported: {type(error).__name__}: {error}"
            ) from error
    return modules


def named_modules() -> list[ModuleType]:
    """The modules that ``--import`` named, each run once in every process."""
    return [_imported(name, name) for name in _named()]


def sources(name: str, file: Path) -> dict[str, str]:
    """SHA-256 of a module's file and of the user's modules that it imports, directly or not: inside
    functions, too, but not by a computed name, and not those of fairfl, Python and installed
    packages.
    """
    files, digests = {name: file}, dict[str, str]()
    while files:
        module, file = files.popitem()
        content = file.read_bytes()
        digests[f"{module}.py"] = sha256(content).hexdigest()
        package = module if file.stem == "__init__" else module.rpartition(".")[0]
        with suppress(SyntaxError, ValueError, ImportError):  # Python reports it at the import
            for imported in _imports(ast.parse(content), package):
                files |= {k: v for k, v in _files(imported) if f"{k}.py" not in digests}
    return digests


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Names of modules that a file imports; of some the last part may be no module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _files(name: str) -> Iterator[tuple[str, Path]]:
    """A user's module and the packages that it is in, with their files. None is imported."""
    module, folders = "", None
    for part in name.split("."):
        module = f"{module}.{part}" if module else part
        if module == "fairfl" or module in sys.stdlib_module_names:
            return
        spec = PathFinder.find_spec(module, folders)
        file = Path(spec.origin or "") if spec else Path()
        if spec is None or INSTALLED & {*file.parts}:
            return
        if file.suffix == ".py":
            yield module, file
        folders = spec.submodule_search_locations or []


def _named() -> list[str]:
    text = os.environ.get(VARIABLE) or "[]"
    with suppress(ValueError):
        names = json.loads(text)
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
    raise ValueError(f"{VARIABLE} must be a JSON list of what --import takes, got {shown(text)}")


def _imported(name: str, argument: str) -> ModuleType:
    """The module of a file's whole path, or of a name; ``argument`` is what a user wrote."""
    try:
        module = _of_file(Path(name)) if name.endswith(".py") else import_module(name)
    except Exception as error:
        raise ValueError(
            f"--import {argument} cannot be run: {type(error).__name__}: {error}"
            + (f" ({where})" if (where := place_of(error)) else "")
        ) from error
    PLACES.add(str(module.__file__))
    if module.__file__ and f"{module.__name__}.py" not in DIGESTS:
        DIGESTS.update(sources(module.__name__, Path(module.__file__)))
    return module


def _of_file(file: Path) -> ModuleType:
    """A file as the module of its name, run once."""
    name, path = file.stem, str(file)
    if not name.isidentifier():
        raise ValueError(f"the name of a file must be that of a module, got {file.name}")
    existing = find_spec(name)
    if existing is not None and existing.origin != path:
        raise ValueError(
            f"the file must have a name that no other module has, {name} is {existing.origin}"
        )
    if name not in sys.modules:
        spec = spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        PLACES.add(path)
        sys.modules[name] = module_from_spec(spec)  # before it runs: annotations are looked up
        try:
            spec.loader.exec_module(sys.modules[name])
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
