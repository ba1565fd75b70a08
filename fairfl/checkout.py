"""Finds the layers where Python imports fairfl from a checkout's root."""

import sys
import tomllib
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import distributions
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType


def find_layers(root: Path) -> None:
    """Let ``import fairfl.LAYER`` find the folders that ``root``'s pyproject.toml maps to packages.

    Raises
    ------
    ImportError : fairfl, and so what it needs, is not installed.
    """
    # an egg-info in the root is left by a build, and is no installation
    paths = [path for path in sys.path if Path(path).resolve() != root.resolve()]
    if not any(distributions(name="fairfl", path=paths)):
        raise ImportError(f"fairfl is not installed: run `pip install -e .` in {root}")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    sys.meta_path.insert(0, Layers(root, project["tool"]["setuptools"]["package-dir"]))


class Layers:
    """A finder of the packages that ``folders`` maps to folders of ``root``."""

    def __init__(self, root: Path, folders: dict[str, str]) -> None:
        self.root, self.folders = root, folders

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package at its folder; None for every other module."""
        if name == "fairfl" or name not in self.folders:
            return None
        folder = self.root / self.folders[name]
        locations = [str(folder)]
        return spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=locations
        )
