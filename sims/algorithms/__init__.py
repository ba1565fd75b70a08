"""Algorithms of fair federated learning, a file each: a frozen dataclass with its hooks."""

from __future__ import annotations

import importlib
import pkgutil

from fairfl._support.own_parts import own_modules
from fairfl.sims.engine.algorithm import REGISTRY, Algorithm

__all__ = ["Algorithm", "algorithms"]


def algorithms() -> dict[str, type[Algorithm]]:
    """Every algorithm by its name, sorted: imports the files of this folder, and the user's."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    own_modules("algorithms")
    return dict(sorted(REGISTRY.items()))
