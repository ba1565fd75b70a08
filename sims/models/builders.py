"""Models by name, for files that name them: how one is built from the data's shape and classes."""

from __future__ import annotations

from collections.abc import Callable

from fairfl._support.registry import Registry
from fairfl.sims.engine.kernels.model import Model

Builder = Callable[..., Model]
"""``build(shape, classes, **parameters)``: one input's shape, the classes, what a file gives."""
USER_MODELS: Registry[Builder] = Registry("models", __name__)


def register_model(name: str) -> Callable[[Builder], Builder]:
    """Add a builder by name; ValueError if the name is taken."""
    return USER_MODELS.register(name)
