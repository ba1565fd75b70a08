"""Models by name, for files that name them: how one is built from the data's shape and classes."""

from __future__ import annotations

from collections.abc import Callable

from fairfl.sims.engine.kernels.model import Model

Builder = Callable[..., Model]
"""``build(shape, classes, **parameters)``: one input's shape, the classes, what a file gives."""
MODELS: dict[str, Builder] = {}


def register_model(name: str) -> Callable[[Builder], Builder]:
    """Add a builder by name; ValueError if the name is taken."""

    def add(build: Builder) -> Builder:
        if name in MODELS:
            raise ValueError(f"name must be new, got {name!r}, registered already")
        MODELS[name] = build
        return build

    return add
