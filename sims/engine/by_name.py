"""Kinds of parts that are found by their names: a subclass with a ``name`` of its own is one."""

from __future__ import annotations

from typing import Any, ClassVar

from fairfl._support.checks import instance


class ByName:
    """A base of parts: ``known`` holds its subclasses by name. A frozen dataclass with a ``name``
    can be named in files, its fields as its parameters.

    Errors: ValueError for a name that another class has.
    """

    name: ClassVar[str] = ""
    known: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.get("name"):
            first = cls.known.setdefault(instance("name", cls.name, str), cls)
            if (first.__module__, first.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ValueError(f"name must be new, got {cls.name!r}, registered already")
            cls.known[cls.name] = cls
