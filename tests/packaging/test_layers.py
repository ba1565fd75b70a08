"""Imports run one way and not in circles, and torch stays in its layer."""

import ast
import re
import tomllib
from functools import cache
from graphlib import TopologicalSorter

import pytest
from checkout import LAYERS, ROOT
from text_tables import table

CIRCLES = {("sims", "engine", "runs"): "simulate, of runs/, is one of the engine's public names"}
"""Imports (layer, from, to) that close a circle, and why they stay."""


@cache
def imports(text: str) -> list[tuple[str, int, bool]]:
    """All that the source imports, at any depth: its line, and whether for annotations alone, or by
    ``import_module``, which no import of the module runs.
    """
    lines = []
    todo: list[tuple[ast.AST, bool]] = [(ast.parse(text), False)]
    while todo:
        node, guarded = todo.pop()
        guarded |= isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if isinstance(node, ast.Import):
            lines += [(alias.name, node.lineno, guarded) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            lines += [(f"{origin}.{alias.name}", node.lineno, guarded) for alias in node.names]
        elif not isinstance(node, ast.expr):
            todo += [(inner, guarded) for inner in ast.iter_child_nodes(node)]
    if "import_module(" in text:
        calls = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call))
        for call in (c for c in calls if ast.unparse(c.func) == "import_module"):
            lines += [
                (a.value, call.lineno, True) for a in call.args if isinstance(a, ast.Constant)
            ]
    return lines


def faults(layer: str, text: str) -> list[str]:
    """What a module of the layer may not import, line by line."""
    lines = []
    for module, line, _ in imports(text):
        top, _, rest = module.partition(".")
        if top == "fairfl":
            imported = rest.partition(".")[0]
            imported = imported if imported in LAYERS else "fairfl"
            if LAYERS.index(imported) > LAYERS.index(layer):
                lines.append(f"{line}: {layer} imports {module}, which stands above it")
        elif top == "torch" and layer not in ("sims", "studies"):
            lines.append(f"{line}: {layer} imports torch, which is for sims and studies")
        elif top == "cvxpy" and layer in ("_support", "theory"):
            lines.append(f"{line}: {layer} imports a solver")
    return lines


def arrows(layer: str) -> dict[str, set[str]]:
    """Which folders and single modules of a layer import which others, annotations left out."""
    edges: dict[str, set[str]] = {}
    package = "fairfl." if layer == "fairfl" else f"fairfl.{layer}."
    folders = {
        file.stem for file in (ROOT / layer).iterdir() if file.is_dir() or file.suffix == ".py"
    } - {"__init__"}
    for file in (ROOT / layer).rglob("*.py"):
        folder = file.relative_to(ROOT / layer).parts[0].removesuffix(".py")
        named = (name for name, _, is_later in imports(file.read_text("utf-8")) if not is_later)
        there = {
            name.removeprefix(package).split(".")[0] for name in named if name.startswith(package)
        }
        edges.setdefault(folder, set()).update((there & folders) - {folder})
    return {
        folder: {target for target in others if (layer, folder, target) not in CIRCLES}
        for folder, others in edges.items()
    }


def test_a_wheel_holds_these_layers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert {*project["tool"]["setuptools"]["package-dir"].values()} == {*LAYERS}


@pytest.mark.parametrize("layer", LAYERS)
def test_the_folders_of_a_layer_import_each_other_in_no_circle(layer):
    TopologicalSorter(arrows(layer)).prepare()  # CycleError names the circle


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_run_one_way(layer):
    files = sorted((ROOT / layer).rglob("*.py"))
    assert files, f"no modules in {layer}/: the check looks in the wrong place"
    lines = [
        f"{file.relative_to(ROOT)}:{row}"
        for file in files
        for row in faults(layer, file.read_text("utf-8"))
    ]
    assert not lines, "\n".join(lines)


WRONG = r"""
theory | import fairfl
theory | from fairfl import sims
_support | from fairfl.theory.populations.laws import Law
sims | from fairfl.studies.papers.all_experiments import find
theory | def f():\n    from fairfl.solvers.numerics.dual import solve
solvers | import fairfl.cli.main
claims | import fairfl.figures.frontier as f
claims | import torch.nn
fairfl | from torch import nn
theory | import cvxpy
theory | import_module('fairfl.sims.data.summary')
"""


@pytest.mark.parametrize(("layer", "text"), table(WRONG))
def test_a_wrong_import_is_found(layer, text):
    assert len(faults(layer, text)) == 1


def test_the_walks_of_the_architecture_name_files() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    walks = text.partition("## Four walks")[2].partition("\n## ")[0].strip().split("\n\n")
    for walk in walks:
        files = re.findall(r"`(\w+/[\w/]+\.py)`", walk)
        assert 8 <= len(files) <= 10 and all((ROOT / file).is_file() for file in files), walk


def test_the_small_wheel_holds_what_its_commands_import():
    """No module less, and none more."""
    files = {}
    for layer in LAYERS:
        for file in (ROOT / layer).rglob("*.py"):
            parts = ("fairfl", *file.relative_to(ROOT).with_suffix("").parts)
            files[".".join(parts).replace("fairfl.fairfl", "fairfl").removesuffix(".__init__")] = (
                file
            )
    settings = tomllib.loads((ROOT / "fairfl-site" / "pyproject.toml").read_text("utf-8"))
    needed, queue = set(), ["fairfl.cli.site", "fairfl._support.version"]
    while queue:
        name = queue.pop()
        if name in files and name not in needed:
            needed.add(name)
            text = files[name].read_text("utf-8")
            queue += [name.rpartition(".")[0]]
            for imported, _, is_later in imports(text):
                if not is_later:
                    queue.append(imported if imported in files else imported.rpartition(".")[0])
    listed = settings["tool"]["setuptools"]["py-modules"]
    assert {name.removesuffix(".__init__") for name in listed} == needed
