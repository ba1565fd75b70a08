"""Parts by name: a registry for each kind, of fairfl's own files and of a user's modules.

A new part is a new file in the folder of its kind. It is added where it is defined, by a decorator
or by its base class (``Named``); or its module is the part, and has the constants of its kind.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from fairfl._support.checks import instance
from fairfl._support.own_parts import own_modules

E = TypeVar("E")
F = TypeVar("F", bound=Callable[..., Any])


class Registry(Mapping[str, E]):
    """The parts of a kind by name, sorted: those of a package, which the first look imports, and
    those of the user's modules.

    Parameters
    ----------
    kind : one of ``own_parts.KINDS``.
    package : name of the package, or of a module.
    constants : what a module with a ``NAME`` must define, of "a or b" one. A user's module is of
        this kind if it has the last of them.
    build : makes the part of such a module.
    several : the constant in which a module has a tuple of parts.

    Errors: ValueError for a name that two parts have, and a module without one of the constants.
    """

    def __init__(
        self,
        kind: str,
        package: str,
        constants: Sequence[str] = (),
        build: Callable[[ModuleType], E] | None = None,
        several: str = "",
    ) -> None:
        self.kind, self.package = kind, package
        self.constants, self.build, self.several = constants, build, several
        self.entries: dict[str, tuple[E, str]] = {}
        """Parts with the modules that define them."""
        self.is_imported = False

    def register(
        self, name: str, build: Callable[[Any], Any] = lambda part: part
    ) -> Callable[[F], F]:
        """A decorator that adds what ``build`` makes of a function."""

        def add(function: F) -> F:
            self.add(name, build(function), function.__module__)
            return function

        return add

    def add(self, name: str, part: E, module: str) -> None:
        """Add a part that a module defines."""
        _put(self.entries, instance("name", name, str), part, module)

    def parts(self) -> dict[str, E]:
        """All parts by name."""
        self._import()
        entries = dict(self.entries)
        for module in own_modules(self.kind):
            self._read(module, entries, is_user=True)
        return {name: entries[name][0] for name in sorted(entries)}

    def __getitem__(self, name: str) -> E:
        return self.parts()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts())

    def __len__(self) -> int:
        return len(self.parts())

    def _import(self) -> None:
        """Import the modules of the package, once."""
        if self.is_imported:
            return
        self.is_imported = True  # set first: these modules may look into the registry
        try:
            package = import_module(self.package)
            inside = walk_packages(getattr(package, "__path__", ()), f"{package.__name__}.")
            for name in sorted(entry.name for entry in inside):
                self._read(import_module(name), self.entries, is_user=False)
        except BaseException:
            self.is_imported = False
            raise

    def _read(
        self, module: ModuleType, entries: dict[str, tuple[E, str]], *, is_user: bool
    ) -> None:
        """Add the parts that a module's constants are."""
        mark = self.constants[-1] if self.constants and is_user else "NAME"
        if self.build is not None and hasattr(module, mark):
            check_constants(module, self.kind, self.constants)
            _put(entries, module.NAME, self.build(module), module.__name__)
        for part in getattr(module, self.several, ()) if self.several else ():
            _put(entries, part.name, part, module.__name__)


class Named:
    """A base class whose ``registry`` has its subclasses with a ``name`` of their own."""

    name: ClassVar[str] = ""
    registry: ClassVar[Registry[Any]]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.get("name"):
            cls.registry.add(cls.name, cls, cls.__module__)


def check_constants(module: ModuleType, kind: str, constants: Sequence[str]) -> None:
    """ValueError for a module without one of the constants of its kind, and for a wrong NAME."""
    missing = [
        names
        for names in ("NAME", *constants)
        if not any(hasattr(module, name) for name in names.split(" or "))
    ]
    if missing:
        raise ValueError(
            f"{_file(module.__name__)}, one of the {kind}, must define {', '.join(constants)}, it "
            f"has no {missing[0]}"
        )
    if not isinstance(module.NAME, str) or not re.fullmatch(r"\w[\w.-]*", module.NAME):
        raise ValueError(
            f"NAME must be of letters, digits, dots and hyphens, got {module.NAME!r} in "
            f"{_file(module.__name__)}"
        )


def _put(entries: dict[str, tuple[E, str]], name: str, part: E, module: str) -> None:
    other, place = entries.setdefault(name, (part, module))
    # a class that a decorator makes anew, as dataclass with slots does, takes its own place
    is_same = isinstance(part, type) and repr(part) == repr(other)
    if other is not part and not is_same:
        raise ValueError(
            f"name must be new, got {name!r} in {_file(module)}, taken by {_file(place)}"
        )
    entries[name] = part, module


def _file(module: str) -> str:
    return module.rpartition(".")[2] + ".py"
