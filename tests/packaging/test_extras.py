"""A plain install works; what needs an extra says which one in a line; and nothing is loaded before
it is used.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fairfl._support.extras import EXTRAS, HINT, MissingExtra, extras_named

ROOT = Path(__file__).resolve().parents[2]
MODULE = {"scikit-learn": "sklearn"}
ORDER = ("_support", "theory", "solvers", "sims", "studies", "claims", "figures", "fairfl")
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


def without_extras(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line where no extra is installed."""
    return python(f"{BLOCKED}from fairfl.cli.main import main; main()", *words, cwd=cwd)


def test_every_library_of_an_extra_is_named():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    brings = {name: {line.partition(">")[0] for line in lines} for name, lines in extras.items()}
    assert brings["all"] == {"fairfl[claims,data,sims]"}
    for name in ("claims", "data", "sims"):
        for library in brings[name] - {"scikit-learn"}:  # which only tests import
            extra = EXTRAS[MODULE.get(library, library)]
            assert library in brings[extra]


@pytest.mark.parametrize("federation", [FINITE, LAWS])
def test_solving_loads_no_extra_and_neither_pandas_nor_cvxpy(federation):
    heavy = {"pandas", "cvxpy", "matplotlib", *EXTRAS, "sklearn"}
    shown = python(f"{federation}{USE}\nimport sys; print({heavy} & set(sys.modules))")
    assert (shown.stdout.strip(), shown.stderr) == ("set()", "")


def test_a_first_solution_on_a_finite_x_loads_little_of_scipy():
    shown = python(
        f"{FINITE}ff.solve(fed, 'cfl', 0.1)\nimport sys; print('scipy.special' in sys.modules)"
    )
    assert (shown.stdout.strip(), shown.stderr) == ("False", "")


@pytest.mark.parametrize("federation", [FINITE, LAWS])
def test_a_plain_install_solves(federation):
    shown = python(f"{BLOCKED}{federation}{USE}ff.frontier(fed, 'cfl').to_frame()")
    assert (shown.stdout, shown.stderr) == ("", "")


def test_the_commands_of_a_plain_install(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    people = (
        "people.csv",
        "--score",
        "score",
        "--label",
        "label",
        "--group",
        "group",
        "--client",
        "site",
    )
    for words in (
        ("frontier", *people, "--points", "5", "--bootstraps", "0", "--out", "out"),
        ("figures", "--list"),
        ("figures", "dual_weights", "--out", "out"),
    ):
        shown = without_extras(*words, cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("claims", "list"), "claims"),
        (("claims", "check", "pffl"), "claims"),
        (("claims", "report"), "claims"),
        (("reproduce", "--out", "out"), "claims"),
        (("frontier", "people.parquet", "--score", "s", "--label", "y", "--group", "a"), "data"),
        (("simulate", "qffl-table-2"), "sims"),
        (("crosscheck", "ensemble"), "sims"),
    ],
)
def test_a_command_without_its_extra_says_which_in_one_line(words, extra, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "people.parquet").write_bytes(b"PAR1")
    shown = without_extras(*words, cwd=tmp_path)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith("fairfl: error: ") and shown.stderr.count("\n") == 1
    assert shown.stderr.endswith(f"is not installed: {HINT.format(extra=extra)}\n")


@pytest.mark.parametrize(
    ("command", "kept"), [("simulate", "experiments"), ("crosscheck", "studies")]
)
def test_what_needs_an_extra_is_listed_without_it(command, kept, tmp_path):
    """From the file that ``--list --json`` wrote, which is what it writes today."""
    shown = without_extras(command, "--list", "--json", cwd=tmp_path)
    assert shown.returncode == 0 and "the extra 'sims' is not installed" in shown.stderr
    whole = python("from fairfl.cli.main import main; main()", command, "--list", "--json")
    assert shown.stdout == whole.stdout == (ROOT / "studies" / f"{kept}.json").read_text("utf-8")
    told = without_extras(command, "--list", cwd=tmp_path)
    assert all(one["name"] in told.stdout for one in json.loads(whole.stdout))


def test_one_reason_whichever_library_of_an_extra_is_met_first():
    """Figures that need the same extra are skipped for the same reason."""
    told = set()
    for library in ("torch", "torch.nn", "filelock"):
        with pytest.raises(MissingExtra) as raised, extras_named():
            raise ModuleNotFoundError("No module", name=library)
        told.add(str(raised.value))
    assert told == {f"the extra 'sims' is not installed: {HINT.format(extra='sims')}"}


def test_no_hint_names_a_package_that_no_index_has():
    folders = [ROOT / name for name in [*ORDER, "docs", "benchmarks"]]
    texts = [*ROOT.glob("*.md"), *(file for folder in folders for file in folder.rglob("*.*"))]
    kinds = (".py", ".md", ".toml")
    assert not [
        str(file.relative_to(ROOT))
        for file in texts
        if file.suffix in kinds and re.search('pip install "?fairfl', file.read_text("utf-8"))
    ]
