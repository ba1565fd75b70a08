"""A plain install works; an extra that is needed is named; nothing is loaded before its use."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from checkout import LAYERS, ROOT

from fairfl._support.extras import EXTRAS, HINT, MissingExtra, extras_named

MODULE = {"scikit-learn": "sklearn"}
BLOCKED = f"""
import sys
class Missing:  # not None in sys.modules: scipy looks there for torch
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {sorted({*EXTRAS, "sklearn"})}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing)
"""
PEOPLE = "score,label,group,site\n" + "".join(
    f"0.{k % 9 + 1},{k * k % 2},{k % 2},{k % 3}\n" for k in range(60)
)
FINITE = """
import numpy as np, fairfl as ff
masses = np.arange(1.0, 13.0).reshape(2, 2, 3)
masses /= masses.sum(axis=(1, 2), keepdims=True)
fed = ff.Federation.finite([0, 1, 2], masses, [0.2, 0.5, 0.9])
"""
LAWS = """
import fairfl as ff
fed = ff.Federation.normal(mean=[[3, 5], [1, -1]], sd=1.0, q=[0.5, 0.4])
"""
USE = """
for scheme in ("cfl", "lft_ensemble", "lft_fedavg"):
    assert ff.solve(fed, scheme, eps=0.1).accuracy > 0.5
    assert ff.frontier(fed, scheme, points=10).accuracy_at(0.5) > 0.5
"""


def python(code: str, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-W", "ignore", "-c", code, *words]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd)


ALL = """
import json, sys
from typer.testing import CliRunner
from fairfl.cli.main import app
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(app, words)
    print(json.dumps([done.exit_code, done.stdout, done.stderr, repr(done.exception)]))
"""
COLUMNS = "--score score --label label --group group --client site"
PLAIN = (
    f"frontier people.csv {COLUMNS} --points 5 --bootstraps 0 --out out",
    "figures dual_weights --out out",
)
LISTED = {
    "simulate": "studies/experiments.json",
    "crosscheck": "studies/studies.json",
    "figures": "figures/figures.json",
}
"""Commands, and the files from which they list what needs an extra, and shells complete names."""
LACKING = {"claims list": "claims", "claims check pffl": "claims", "claims report": "claims"}
LACKING |= {"reproduce --out out": "claims"}
LACKING |= {"frontier people.parquet --score s --label y --group a": "data"}
LACKING |= {"frontier people.csv --feature score --label label --group group": "data"}
LACKING |= {"simulate qffl-table-2": "sims", "crosscheck ensemble": "sims"}
"""Commands, and the extra that each needs."""


@pytest.fixture(scope="module")
def without_extras(tmp_path_factory) -> dict[str, tuple[int, str, str, str]]:
    """What command lines end in where no extra is installed: code, output, errors, exception."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "people.parquet").write_bytes(b"PAR1")
    lists = [f"{command} --list{end}" for command in LISTED for end in ("", " --json")]
    lines = [*PLAIN, *lists, *LACKING]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        words = json.dumps([line.split() for line in lines])
        shown = python(f"{BLOCKED}{ALL}", words, cwd=folder)
    return dict(zip(lines, map(json.loads, shown.stdout.splitlines()), strict=True))


def test_every_library_of_an_extra_is_named():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    brings = {name: {line.partition(">")[0] for line in lines} for name, lines in extras.items()}
    assert brings["all"] == {"fairfl[claims,data,lp,sims]"}
    for name in ("claims", "data", "lp", "sims"):
        for library in brings[name] - {"scikit-learn"}:  # which only tests import
            extra = EXTRAS[MODULE.get(library, library)]
            assert library in brings[extra]


HEAVY = {"pandas", "matplotlib", *EXTRAS, "sklearn"}
OBJECTIVES = "import fairfl.theory.aggregation as a; a.TERM(1.0).value([0.0, 1.0]); a.objectives()"
CATALOG = "from fairfl.figures.catalog.all_figures import registered"
NOT_LOADED = {
    "a site": (("import fairfl.sims.data.summary", HEAVY | {"scipy", "typer", "rich"}),),
    "all else": (
        ("import fairfl", {"threadpoolctl", "numpy"}),
        ("import fairfl.cli.main", {"numpy", "pandas", "scipy", "matplotlib", "fairfl.solvers"}),
        (f"{FINITE}ff.solve(fed, 'cfl', 0.1)", {"scipy.special"}),
        (OBJECTIVES, {"torch", "sympy", "scipy.optimize"}),
        (f"{FINITE}{USE}", HEAVY),
        (f"{LAWS}{USE}", HEAVY),
        ("ff.solve_minimax", {"cvxpy", "sympy"}),
        ("from fairfl.sims.data.tables import *; len(DATASETS)", {"torch"}),
        (f"{CATALOG}; registered()", {"matplotlib.pyplot", "torch", "cvxpy"}),
    ),
}
"""What is run in one process, step by step, and what is not loaded until the end of each step."""


@pytest.mark.parametrize("process", NOT_LOADED)
def test_nothing_is_loaded_before_it_is_used(process):
    steps = "".join(
        f"{code}\nprint({left_out} & set(sys.modules))\n" for code, left_out in NOT_LOADED[process]
    )
    shown = python(f"import sys\n{steps}")
    assert (shown.stdout, shown.stderr) == ("set()\n" * len(NOT_LOADED[process]), "")


@pytest.mark.parametrize("line", PLAIN)
def test_the_commands_of_a_plain_install(line, without_extras):
    code, _, stderr, _ = without_extras[line]
    assert code == 0, stderr


@pytest.mark.parametrize("line", LACKING)
def test_a_command_without_its_extra_says_which_in_one_line(line, without_extras):
    code, stdout, stderr, exception = without_extras[line]
    assert (code, stdout, exception) == (2, "", "SystemExit(2)")
    assert stderr.startswith("fairfl: error: ") and stderr.count("\n") == 1
    assert stderr.endswith(f"is not installed: {HINT.format(extra=LACKING[line])}\n")


@pytest.mark.parametrize("command", LISTED)
def test_what_needs_an_extra_is_listed_without_it(command, cli, without_extras):
    """From the file that ``--list --json`` wrote, which is what it writes today."""
    code, stdout, stderr, _ = without_extras[f"{command} --list --json"]
    assert code == 0 and (command == "figures") != ("the extra 'sims' is not installed" in stderr)
    listed = (ROOT / LISTED[command]).read_text("utf-8")
    assert stdout == cli(command, "--list", "--json").stdout == listed
    text = without_extras[f"{command} --list"][1]
    assert all(entry["name"] in text for entry in json.loads(listed))


def test_the_linear_programme_without_its_extra():
    """Everything else solves without cvxpy."""
    method = "ff.solve(fed, 'cfl', 0.1, method='lp')"
    code = f"{BLOCKED}{FINITE}{USE}\ntry:\n    {method}\nexcept ImportError as no:\n    print(no)"
    shown = python(code)
    assert shown.stderr == ""
    assert shown.stdout == f"the extra 'lp' is not installed: {HINT.format(extra='lp')}\n"


def test_one_reason_whichever_library_of_an_extra_is_met_first():
    """Figures that need the same extra are skipped for the same reason."""
    messages = set()
    for library in ("torch", "torch.nn", "filelock"):
        with pytest.raises(MissingExtra) as raised, extras_named():
            raise ModuleNotFoundError("No module", name=library)
        messages.add(str(raised.value))
    assert messages == {f"the extra 'sims' is not installed: {HINT.format(extra='sims')}"}


def test_no_hint_names_a_package_that_no_index_has():
    folders = [ROOT / name for name in [*LAYERS, "docs", "benchmarks"]]
    texts = [*ROOT.glob("*.md"), *(file for folder in folders for file in folder.rglob("*.*"))]
    kinds = (".py", ".md", ".toml")
    assert not [
        str(file.relative_to(ROOT))
        for file in texts
        if file.suffix in kinds and re.search('pip install "?fairfl', file.read_text("utf-8"))
    ]
