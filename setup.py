"""Lists the packages: setuptools cannot discover them through several root folders, and a hand-kept
list is forgotten. Writes the README for a package index.

Everything else about the build is in pyproject.toml; the folders are read from there.
"""

import re
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


def readme() -> str:
    """README.md without pictures and links to files of the repository: an index has no such files.
    A picture goes with its caption; a link becomes its text and the file's name.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = re.sub(
        r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n(\*.*\*\n\n)?", "", text, flags=re.MULTILINE
    )
    text = re.sub(r"\[([^\]]+)\]\(\1\)", r"\1", text)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)([^)]*)\)", r"\1 (\2)", text)


setup(packages=packages(), long_description=readme(), long_description_content_type="text/markdown")
