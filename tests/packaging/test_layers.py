"""Imports run one way, torch stays in its layer, and no layer goes by its folder's name."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORDER = ("_support", "theory", "solvers", "sims", "studies", "claims", "figures", "fairfl")


def imports(text: str) -> Iterator[tuple[str, int]]:
    """Every module that the source names in an import, at whatever depth, with its line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            if origin == "fairfl":  # `from fairfl import theory` is an import of fairfl.theory
                yield from ((f"fairfl.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield origin, node.lineno


def faults(layer: str, text: str) -> list[str]:
    """What a module of the layer may not import, line by line."""
    found = []
    for module, line in imports(text):
        top, _, rest = module.partition(".")
        if module.startswith("."):
            found.append(f"{line}: relative import {module}")
        elif top in ORDER and top != "fairfl":
            found.append(f"{line}: imports {module}, which is a second copy of fairfl.{module}")
        elif top == "fairfl":
            other = rest.partition(".")[0]
            other = other if other in ORDER else "fairfl"
            if ORDER.index(other) > ORDER.index(layer):
                found.append(f"{line}: {layer} imports {module}, which stands above it")
        elif top == "torch" and layer not in ("sims", "studies"):
            found.append(f"{line}: {layer} imports torch, which is for sims and studies")
        elif top == "cvxpy" and layer in ("_support", "theory"):
            found.append(f"{line}: {layer} imports a solver")
    return found


@pytest.mark.parametrize("layer", ORDER)
def test_imports_run_one_way(layer):
    files = sorted((ROOT / layer).rglob("*.py"))
    assert files, f"no modules in {layer}/: the check looks in the wrong place"
    found = [f"{file.relative_to(ROOT)}:{row}" for file in files for row in faults(layer, file.read_text("utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        ("theory", "import fairfl"),
        ("theory", "from fairfl import sims"),
        ("_support", "from fairfl.theory.populations.laws import Law"),
        ("sims", "from fairfl.studies.registry import find"),
        ("theory", "def f():\n    from fairfl.solvers.numerics.dual import solve"),
        ("solvers", "import fairfl.cli.main"),
        ("claims", "import fairfl.figures.frontier as f"),
        ("sims", "from theory.laws import Law"),
        ("solvers", "import theory"),
        ("theory", "from .laws import Law"),
        ("claims", "import torch.nn"),
        ("fairfl", "from torch import nn"),
        ("theory", "import cvxpy"),
    ],
)
def test_a_wrong_import_is_found(layer, text):
    assert len(faults(layer, text)) == 1


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        ("solvers", "import fairfl.theory\nfrom fairfl.theory.eta import Eta\nfrom fairfl.solvers.dual import solve"),
        ("sims", "import torch\nfrom torch import nn"),
        ("figures", "from fairfl import claims\nfrom fairfl._support.version import __version__"),
        ("fairfl", "import fairfl\nfrom fairfl import cli, figures"),
        ("theory", "import sympy.theory"),
    ],
)
def test_a_right_import_passes(layer, text):
    assert faults(layer, text) == []


def test_importing_the_package_loads_neither_torch_nor_solvers_nor_pictures():
    heavy = ("torch", "cvxpy", "matplotlib.pyplot", "hypothesis")
    code = f"import fairfl, sys; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
