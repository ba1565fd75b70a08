"""Registration by name: a subclass that sets ``name`` is registered under it."""

from __future__ import annotations

from typing import Any, ClassVar

from fairfl._support.checks import instance


class ByName:
    """A base whose ``registry`` holds its subclasses by name. A frozen dataclass with a ``name``
    can be named in files, its fields as its parameters.

    Errors: ValueError for a name that another class has.
    """

    name: ClassVar[str] = ""
    registry: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.get("name"):
            holder = cls.registry.setdefault(instance("name", cls.name, str), cls)
            if (holder.__module__, holder.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ValueError(f"name must be new, got {cls.name!r}, registered already")
            cls.registry[cls.name] = cls
