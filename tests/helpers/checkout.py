"""The checkout's root, and the layers of its pyproject.toml from the lowest to the highest."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
_HIGHEST, *_OTHERS = _PROJECT["tool"]["setuptools"]["package-dir"].values()
LAYERS = (*_OTHERS, _HIGHEST)
