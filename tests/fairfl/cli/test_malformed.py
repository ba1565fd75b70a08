"""Command lines that ask for what cannot be: a line; 2 for usage, 1 for what could not be done."""

import os
from pathlib import Path

import pytest
from run_files import PLAIN
from text_tables import table as table_of

from fairfl.cli.lib.errors import MOST

GOOD = "[[clients]]\nmean = [0, 1]\n\n[[clients]]\nmean = [1, -1]\nq = 0.3\n"


def config(folder, algorithm=""):
    """A run's file, with more lines on its algorithm."""
    file, name = folder / "run.toml", 'name = "fedavg"\n'
    file.write_text(PLAIN.replace(name, f"{name}{algorithm}\n"), "utf-8")
    return file


def one_line(result, code: int, *words: str) -> None:
    assert result.exit_code == code, result.stderr
    assert result.stderr.startswith("fairfl: error: ") and result.stderr.count("\n") == 1
    assert all(word in result.stderr for word in words), result.stderr


OUTS = ["frontier f.toml", "figures fedfb_figure_2", "reproduce", "simulate run.toml"]
OUTS += ["crosscheck --profile quick", "claims check pffl/eq-8", "claims report"]


@pytest.fixture
def no_work(tmp_path, monkeypatch):
    """Files for the commands, none of which begins its work."""
    for work in (
        "reports.frontier.compare",
        "figures.render.render_all",
        "studies.execute.run_units",
        "claims.runner.recorded",
    ):
        monkeypatch.setattr(f"fairfl.{work}", lambda *_, **__: pytest.fail("it ran"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.toml").write_text(GOOD, "utf-8")
    config(tmp_path)


@pytest.mark.parametrize("command", OUTS)
@pytest.mark.parametrize(
    ("out", "code", "message"),
    [
        ("file/.", 1, "must be a folder that can be written, got file"),
        ("file/deeper", 1, "must be a folder that can be written, got file"),
        ("", 2, "must not be empty, got ''"),
    ],
)
def test_what_is_no_folder_is_named_before_the_work(
    cli, tmp_path, no_work, command, out, code, message
):
    (tmp_path / "file").write_text("", "utf-8")
    before = sorted(tmp_path.rglob("*"))
    one_line(cli(*command.split(), "--out", out), code, "--out", message)
    assert sorted(tmp_path.rglob("*")) == before


PEOPLE = "people.csv --score s --label y --group a"
PLACES = table_of(f"""
frontier f.toml --out o | o/frontier.csv
frontier {PEOPLE} --page o/p.html | o/p.html
summarize {PEOPLE} --site n --out o/site.json | o/site.json
apply rule.json people.csv --score s --group a --out o/d.csv | o/d.csv
explore --out o/explorer.html | o/explorer.html
figures fedfb_figure_2 --out o | o/fedfb_figure_2.png
reproduce --out o | o/index.html
simulate run.toml --out o | o/run/table.csv
crosscheck --profile quick --out o | o/dual-weights/verdicts.json
claims report --out o | o/claims.html
""")
"""Command lines, and a file that each is to write."""


@pytest.mark.parametrize("kind", ["folder", *["pipe"] * (os.name == "posix")])
@pytest.mark.parametrize(("line", "name"), PLACES)
def test_what_is_no_file_is_named_before_the_work_and_stays(
    cli, tmp_path, no_work, table, line, name, kind
):
    (tmp_path / name).parent.mkdir(parents=True)
    make, words = {
        "folder": (os.mkdir, "is a folder"),
        "pipe": (os.mkfifo, "must be a regular file or new, and is a "),
    }[kind]
    make(tmp_path / name)
    one_line(cli(*line.split()), 1, Path(name).name, words)
    assert (tmp_path / name).exists() and not (tmp_path / name).is_file()


@pytest.mark.parametrize("name", ["...toml", "..toml", "....toml", "\x1b[31m.toml"])
def test_a_run_stays_in_its_folder(cli, tmp_path, no_work, name):
    file = config(tmp_path).rename(tmp_path / name)
    one_line(cli("simulate", file, "--out", tmp_path / "o"), 2, "printable and more than dots")
    assert not (tmp_path / "o").exists()


def test_errors_are_short_however_wide_the_table(cli, tmp_path):
    columns = ",".join(f"column{k}" for k in range(3000))
    (tmp_path / "wide.csv").write_text(f"{columns}\n{columns}\n", "utf-8")
    outcome = cli("frontier", tmp_path / "wide.csv", "--label", "y", "--group", "column1")
    one_line(outcome, 2, "label 'y' must be a column of wide.csv", "'column0'", "(3000 in all)")
    outcome = cli("frontier", tmp_path / "wide.csv", "--group-pair", "y" * 5000)
    one_line(outcome, 2)
    wrong = cli("figures", *(f"figure{k}" for k in range(3000)))
    one_line(wrong, 2, "figure must be one of")
    assert len(wrong.stderr) < MOST + 50


@pytest.mark.parametrize("label", [r"$\\frac{$", "_q"])
def test_labels_and_titles_are_drawn_as_they_are(cli, tmp_path, label):
    result = cli("simulate", config(tmp_path, f'label = "{label}"'), "--out", tmp_path / "o")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "o" / "run" / "run-rounds.svg").is_file()
    file = tmp_path / f"{label}.toml"
    file.write_text(GOOD, "utf-8")
    assert cli("frontier", file, "--schemes", "cfl", "--out", tmp_path / "o").exit_code == 0


def test_a_run_that_diverged_says_so_and_keeps_what_there_is(cli, tmp_path):
    result = cli("simulate", config(tmp_path, "lr = 1e15"), "--out", tmp_path / "o")
    one_line(result, 1, "diverged", "fedavg")
    assert (tmp_path / "o" / "run" / "table.csv").is_file() and "written" in result.stdout
