"""fairfl: what a federation loses in accuracy and fairness by the way it trains; exact answers,
checked.

Public names are imported on first use, so that ``import fairfl`` stays fast.
"""

import re
from importlib import import_module
from pathlib import Path

# In a checkout's root Python imports this folder, and the layers stand beside it.
if not Path(__file__).with_name("_support").exists():
    from fairfl.checkout import find_layers

    find_layers(Path(__file__).parents[1])

_FILE = Path(__file__).with_suffix(".pyi")
_STUB = _FILE.read_text("utf-8") if _FILE.exists() else ""  # fairfl-site has none
_MODULES = {name: module for module, name in re.findall(r"from (fairfl\S+) import (\w+)", _STUB)}
"""Public names, and the modules that define them."""

__all__ = [*_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value
    if name == "figures":
        return import_module("fairfl.figures")
    raise AttributeError(f"module 'fairfl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_MODULES, "figures"])
