"""Modules found by their ``NAME``: a new file is a new figure, experiment or study; nothing else is
edited. A module may hold several of one shape instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Protocol, TypeVar

from fairfl._support.own_parts import own_modules


class Named(Protocol):
    """What is found."""

    @property
    def name(self) -> str:
        """Name by which the module is found."""
        ...


E = TypeVar("E", bound=Named)


def discovered(
    package: ModuleType,
    kind: str,
    parts: Sequence[str] = (),
    build: Callable[[ModuleType], E] | None = None,
    several: str = "",
) -> dict[str, E]:
    """The definitions in the modules of a package, of its subpackages and of the user, by name,
    sorted: of a module that has a ``NAME`` what ``build`` returns, and the tuple ``several``.

    ``kind`` is their name in errors. A module with a ``NAME`` must define all ``parts``, of
    "a or b" one. A user's module is of this kind if it has the last of them, or ``several``.
    Without ``build`` only tuples are read.

    Raises
    ------
    ValueError : a module without one of the parts, or a name taken twice.
    """
    registry: dict[str, tuple[E, ModuleType]] = {}
    inside = walk_packages(package.__path__, f"{package.__name__}.")
    modules = [import_module(name) for name in sorted(entry.name for entry in inside)]
    for module in own_modules({"study": "studies"}.get(kind, f"{kind}s")):
        has_last = any(hasattr(module, part) for part in parts[-1:])
        if has_last and not hasattr(module, "NAME"):
            raise ValueError(f"{kind} {module.__name__} must define NAME")
        if has_last or hasattr(module, several or "_"):
            modules.append(module)
    for module in modules:
        built = (build(module),) if build and has_parts(module, kind, parts) else ()
        for item in (*built, *getattr(module, several or "_", ())):
            first, place = registry.setdefault(item.name, (item, module))
            if first is not item:
                raise ValueError(
                    f"NAME must be new, got {item.name!r} in {_file(module)}, taken by "
                    f"{_file(place)}"
                )
    return {name: item for name, (item, _) in sorted(registry.items(), key=lambda pair: pair[0])}


def has_parts(module: ModuleType, kind: str, parts: Sequence[str]) -> bool:
    """Whether the module has a ``NAME``; ValueError that says which of the parts such a one has
    not.
    """
    if not hasattr(module, "NAME"):
        return False
    if not re.fullmatch(r"\w[\w.-]*", str(module.NAME)) or not isinstance(module.NAME, str):
        raise ValueError(
            f"NAME must be of letters, digits, dots and hyphens, got {module.NAME!r} in "
            f"{_file(module)}"
        )
    missing = [part for part in parts if not any(hasattr(module, n) for n in part.split(" or "))]
    if missing:
        raise ValueError(
            f"{kind} {module.__name__} must define {', '.join(parts)}, it has no {missing[0]}"
        )
    return True


def _file(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2] + ".py"
