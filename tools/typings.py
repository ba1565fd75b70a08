"""Renew typings/fairfl, the links that show type checkers and editors one package `fairfl`.

The folders theory/, solvers/ and so on stand at the repository's root and are mapped into the package only when it is
built, which checkers do not follow. Run it after adding or removing a file in fairfl/ (``make typings``).
"""

import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def wanted(root: Path = ROOT) -> dict[str, str]:
    """Each link below typings/fairfl by name, and what it points to."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    folders = dict(project["tool"]["setuptools"]["package-dir"])
    face = root / folders.pop("fairfl")
    links = {package.removeprefix("fairfl."): f"../../{folder}" for package, folder in folders.items()}
    for entry in face.iterdir():
        if not entry.name.startswith((".", "__pycache__")):
            links[entry.name] = f"../../{face.name}/{entry.name}"
    return dict(sorted(links.items()))


def present(root: Path = ROOT) -> dict[str, str]:
    """The links that stand below typings/fairfl; what is not a link points to nothing, written ''."""
    entries = sorted((root / "typings" / "fairfl").glob("*"))
    return {entry.name: os.readlink(entry) if entry.is_symlink() else "" for entry in entries}


def renew(root: Path = ROOT) -> None:
    """Make the links that stand equal to those wanted."""
    folder = root / "typings" / "fairfl"
    folder.mkdir(parents=True, exist_ok=True)
    have, want = present(root), wanted(root)
    for name in have.keys() - {name for name, target in want.items() if have.get(name) == target}:
        (folder / name).unlink()
    for name, target in want.items():
        if have.get(name) != target:
            (folder / name).symlink_to(target)


if __name__ == "__main__":
    renew()
