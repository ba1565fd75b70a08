"""The sdist, and the wheel built from it, hold every module and data file, and work elsewhere."""

import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import numpy
import pandas as pd
import pytest

from fairfl import __version__
from fairfl.sims.data.summary import read_summary
from fairfl.theory.populations.classifiers import Classifier

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGE_DIR = PROJECT["tool"]["setuptools"]["package-dir"]
KINDS = {".py", ".pyi", ".html", ".csv", ".mplstyle", ".toml", ".json", ".v", ".css", ".js"}


def run(*command: str | Path, cwd: Path) -> str:
    """What the command prints; its whole output where it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(source: Path, out: Path) -> Path:
    """A wheel, built from the sdist of the tree with the setuptools that is installed."""
    words = "-m build --no-isolation --outdir".split()
    run(sys.executable, *words, out, source, cwd=source)
    (wheel,) = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """What the build reads, copied: build/ in the checkout would leak old files into wheels."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "setup.py", "LICENSE", "README.md"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, copy)
    for folder in (*PACKAGE_DIR.values(), "fairfl-site"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def planted(source):
    """A nested package and a table that no file of the build names."""
    (source / "theory" / "planted" / "deeper").mkdir(parents=True)
    for name in ("__init__.py", "module.py", "deeper/__init__.py"):
        (source / "theory" / "planted" / name).touch()
    (source / "claims" / "planted_tables").mkdir()
    (source / "claims" / "planted_tables" / "table.json").write_text("{}")


@pytest.fixture(scope="module")
def wheel(source, planted, tmp_path_factory):
    return build(source, tmp_path_factory.mktemp("dist"))


def test_the_wheel_holds_every_module_and_data_file(source, wheel):
    with zipfile.ZipFile(wheel) as archive:
        members = {name for name in archive.namelist() if name.startswith("fairfl/")}
    expected = {
        "/".join([*package.split("."), *file.relative_to(source / folder).parts])
        for package, folder in PACKAGE_DIR.items()
        for file in (source / folder).rglob("*")
        if file.is_file() and (file.suffix in KINDS or file.name == "py.typed")
    }
    assert {"fairfl/__init__.py", "fairfl/theory/__init__.py", "fairfl/py.typed"} <= expected
    planted = "theory/planted/deeper/__init__.py", "claims/planted_tables/table.json"
    assert {f"fairfl/{name}" for name in planted} <= expected
    assert members == expected


def test_an_index_can_show_what_the_wheel_says(wheel):
    """No link to a file of the repository, no picture; the examples and the extras are there."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        head, _, text = archive.read(name).decode("utf-8").partition("\n\n")
    assert not re.search(r"\]\((?!https?://)", text) and "](https://arxiv.org/" in text
    assert FIRST is not None and FIRST[0] in text and "*FedFB's figure 5" not in text
    assert "Explanations (docs/explanation.md): which" in text and "see LICENSE." in text
    core = re.findall(r"^Requires-Dist: ([\w-]+)(?!.*extra ==)", head, re.MULTILINE)
    assert "numpy" in core and not {"cvxpy", "torch", "sympy", "pyarrow"} & {*core}


def test_a_release_is_of_one_version():
    """In the package, changelog, file for citing and conda recipe, which has the core's needs."""
    changelog, citation, recipe = (
        (ROOT / name).read_text("utf-8")
        for name in ("CHANGELOG.md", "CITATION.cff", "conda-recipe/recipe.yaml")
    )
    newest = re.search(r"^## \[([\d.]+)\] - ([\d-]+)$", changelog, re.MULTILINE)
    assert newest is not None and newest[1] == __version__
    assert f"\nversion: {newest[1]}\ndate-released: {newest[2]}\n" in citation
    assert f'version: "{newest[1]}"' in recipe
    run_needs = recipe.partition("  run:")[2].partition("tests:")[0].replace("-base", "")
    core = [line.split("  #")[0] for line in PROJECT["project"]["dependencies"]]
    needs = {line.replace(" ", "") for line in re.findall(r"^    - (.*)$", run_needs, re.MULTILINE)}
    assert needs == {*core, "python>=${{python_min}}"}


NOT_CORE = """
import re, sys
from importlib import metadata

def wanted(name):
    for line in metadata.requires(name) or ():
        other = re.match(r"[\\w.-]+", line)[0]
        if "extra ==" not in line and other not in core:
            try:
                metadata.distribution(other)
            except metadata.PackageNotFoundError:  # of another platform
                continue
            core.add(other)
            wanted(other)

core = {"fairfl"}
wanted("fairfl")
plain = {re.sub("[-_.]+", "-", name).lower() for name in core}

class NotCore:
    held = {
        module
        for module, names in metadata.packages_distributions().items()
        if not plain & {re.sub("[-_.]+", "-", name).lower() for name in names}
    }
    def find_spec(name, path=None, target=None):
        if name in NotCore.held:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NotCore)
"""
"""What the core's dependencies do not bring cannot be imported, as after a plain install."""
README = (ROOT / "README.md").read_text("utf-8")
FIRST = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", README, re.DOTALL)
ORIGINS = f"""
import importlib, sys, fairfl as ff
for name in {sorted(PACKAGE_DIR)}:
    importlib.import_module(name)
fed = ff.Federation.normal(mean=[[3, 5], [1, -1]], sd=1.0, q=[0.5, 0.5])
assert ff.solve(fed, "cfl", eps=0.1).accuracy > 0.8
print(*{{m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "fairfl"}}, sep="\\n")
"""


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A fresh environment with the wheel and what the core depends on; its python and packages."""
    home = tmp_path_factory.mktemp("installed") / "env"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--quiet", "--no-input")
    run(*pip, "install", "--no-deps", "--no-index", "--no-compile", wheel, cwd=home)
    (site,) = home.glob("lib/python*/site-packages")
    # The dependencies come from the environment of the tests. A folder named in a .pth file has its
    # own .pth files left unread, so the editable install of the checkout is not seen.
    (site / "dependencies.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n", encoding="utf-8")
    (site / "not_core.py").write_text(NOT_CORE, encoding="utf-8")
    (site / "not_core.pth").write_text("import not_core\n", encoding="utf-8")
    return python, site.resolve()


def test_the_first_example_of_the_readme_needs_no_extra(installed, tmp_path):
    assert FIRST is not None
    assert run(installed[0], "-c", FIRST[1], cwd=tmp_path) == FIRST[2]


@pytest.mark.parametrize("place", ["the root of the checkout", "elsewhere"])
def test_one_copy_is_imported_wherever_python_starts(installed, source, tmp_path, place):
    python, site = installed
    root = place == "the root of the checkout"
    assert (python.parent / "fairfl").is_file()
    files = run(python, "-c", ORIGINS, cwd=source if root else tmp_path).splitlines()
    whole = source.resolve() if root else site
    assert len(files) > 20 and all(Path(file).resolve().is_relative_to(whole) for file in files)


def test_in_the_root_of_the_checkout_the_layers_alone_are_part_of_fairfl(installed, source):
    """Other folders are no packages of it; without an installation the error says what to do."""
    (source / "other").mkdir()
    (source / "other" / "__init__.py").touch()
    code = (
        "import importlib.util as u; print(u.find_spec('fairfl.other'), u.find_spec('fairfl.sims'))"
    )
    assert run(installed[0], "-c", code, cwd=source).startswith(
        "None ModuleSpec(name='fairfl.sims'"
    )
    words = [sys.executable, "-I", "-S", "-c", "import sys; sys.path.insert(0, '.'); import fairfl"]
    bare = subprocess.run(words, cwd=source, capture_output=True, text=True)
    assert "ImportError: fairfl is not installed: run `pip install -e .`" in bare.stderr


SITE = """
import sys
from importlib.metadata import distributions
from fairfl.cli.site import main
size = sum(file.locate().stat().st_size for dist in distributions() for file in dist.files or ()
           if file.locate().is_file())
print(*sorted(dist.name for dist in distributions()), size)
"""
NAMES = ["summarize", "apply", "judge"]
PEOPLE = "s,y,a\n" + "".join(f"0.{k % 9},{k * k % 2},{'ab'[k % 2]}\n" for k in range(60))
RULE = Classifier([[0.5], [0.3]], [[0, 1], [0.2, 1]], groups=("a", "b")).to_json()


def test_a_site_installs_what_its_commands_need(source, tmp_path):
    """In an environment of the small wheel, and of links to what it requires."""
    words = (sys.executable, *"-m build --wheel --no-isolation --outdir".split())
    run(*words, tmp_path, source / "fairfl-site", cwd=tmp_path)
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python, (wheel,) = tmp_path / "env" / "bin" / "python", tmp_path.glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--python", python, "--quiet", "--no-input")
    run(*pip, "install", "--no-deps", "--no-index", "--no-compile", wheel, cwd=tmp_path)
    (site,) = tmp_path.glob("env/lib/python*/site-packages")
    names = {"numpy", "typer"}
    for _ in range(4):  # of what is required what that requires
        lines = [line for name in names for line in metadata.requires(name) or ()]
        names |= {re.split("[^\\w.-]", line)[0] for line in lines if "extra" not in line}
        names = {name for name in names if [*metadata.distributions(name=name)]}
    for folder in {file.parts[0] for name in names for file in metadata.files(name) or ()} - {".."}:
        (site / folder).symlink_to(Path(numpy.__file__).parents[1] / folder)
    *installed, size = run(python, "-c", SITE, cwd=tmp_path).split()
    assert {"numpy", "fairfl-site"} < {*installed} and not {"scipy", "pandas"} & {*installed}
    assert 20e6 < int(size) < 150e6
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "rule.json").write_text(RULE)
    readme = (ROOT / "fairfl-site" / "README.md").read_text("utf-8")
    lines = re.findall("`fairfl-site (.*?)`", readme)
    commands = [(python.with_name("fairfl-site"), *line.split()) for line in lines]
    shown = [run(*command, cwd=tmp_path) for command in commands]
    assert '"people": 60' in shown[0] and [line.split()[0] for line in lines] == NAMES
    counts = read_summary(tmp_path / "judged.json").counts
    rows = pd.read_csv(tmp_path / "decisions.csv")
    assert counts[..., -1].sum() == rows["decision"].sum() == 60 - counts[..., 0].sum()


def test_examples_are_short():
    for file in (ROOT / "docs" / "examples").glob("*.py"):
        assert len(file.read_text("utf-8").splitlines()) <= 15, file.name
