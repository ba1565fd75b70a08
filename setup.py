"""Lists the packages: setuptools cannot discover them through several root folders, and a hand-kept
list is forgotten.

Everything else about the build is in pyproject.toml; the folders are read from there.
"""

import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent


def packages() -> list[str]:
    """Every folder with a python file in it, below the folders that pyproject.toml maps to
    packages.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = set()
    for package, folder in project["tool"]["setuptools"]["package-dir"].items():
        for file in (ROOT / folder).rglob("*.py"):
            inner = file.parent.relative_to(ROOT / folder).parts
            found.add(".".join([package, *inner]))
    return sorted(found)


setup(packages=packages())
