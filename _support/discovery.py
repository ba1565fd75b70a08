"""Modules found by their ``NAME``: a new file is a new figure, experiment or study; nothing else is
edited.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType


def named_modules(package: ModuleType, kind: str, parts: Sequence[str]) -> dict[str, ModuleType]:
    """The modules of a package, and of the packages in it, that have a ``NAME``, by that name,
    sorted.

    ``kind`` is what errors call them, ``parts`` are what each of them must define.

    Raises
    ------
    ValueError : a module without one of the parts, or a name taken twice.
    """
    found: dict[str, ModuleType] = {}
    for entry in sorted(
        walk_packages(package.__path__, f"{package.__name__}."), key=lambda m: m.name
    ):
        module = import_module(entry.name)
        if has_parts(module, kind, parts):
            first = found.setdefault(module.NAME, module)
            if first is not module:
                raise ValueError(
                    f"NAME must be new, got {module.NAME!r} in {_file(module)}, taken by "
                    f"{_file(first)}"
                )
    return dict(sorted(found.items()))


def has_parts(module: ModuleType, kind: str, parts: Sequence[str]) -> bool:
    """Whether the module has a ``NAME``; ValueError that says which of the parts such a one has
    not.
    """
    if not hasattr(module, "NAME"):
        return False
    missing = [part for part in parts if not hasattr(module, part)]
    if missing:
        raise ValueError(
            f"{kind} {module.__name__} must define {', '.join(parts)}, it has no {missing[0]}"
        )
    return True


def _file(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2] + ".py"
