"""Algorithms of fair federated learning, a file each: a frozen dataclass with its hooks."""

from __future__ import annotations

import importlib
import pkgutil

from fairfl._support.own_parts import own_modules
from fairfl.sims.engine.algorithm import REGISTRY, Algorithm

__all__ = ["Algorithm", "algorithms"]


def algorithms() -> dict[str, type[Algorithm]]:
    """Every algorithm by its name, sorted; the files of this folder are imported for it, and a
    user's own.
    """
    for found in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{found.name}")
    own_modules("algorithms")  # which register theirs
    return dict(sorted(REGISTRY.items()))
