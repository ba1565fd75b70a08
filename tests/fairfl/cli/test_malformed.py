"""Command lines that ask for what cannot be, and a full disk: one line that names it; exit code 2
for usage, 1 for what could not be done.
"""

import errno
import os
import shlex
from pathlib import Path

import pytest
from run_files import PLAIN
from text_tables import table as table_of

import fairfl._support.whole_file as whole_file
from fairfl.claims import record
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


WRITING = {
    "frontier": f"frontier {PEOPLE} --points 3 --bootstraps 0 --out out",
    "figures": "figures line --out out",
    "reproduce": "reproduce --out out --jobs 1",
    "simulate": "simulate run.toml --seeds 1 --out out",
    "report": "claims report pffl/eq-8 --out out",
    "record": "claims check pffl/eq-8 --record",
}


class Full:
    """A stream of a file on a full disk."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stream.close()

    def write(self, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def fill(table, tmp_path, monkeypatch, small_registry):
    """Leave no space for files with ``part`` in their names; those that are begun are listed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(record, "COMMITTED", tmp_path / "record.json")
    config(tmp_path)
    begun = []

    def fill(part=""):
        def opened(path, mode):
            if part not in path.name:
                return open(path, mode)
            begun.append(path)
            return Full(open(path, mode))

        monkeypatch.setattr(whole_file, "open", opened, raising=False)
        return begun

    return fill


def test_a_full_disk_at_the_page_does_not_lose_the_rest(cli, fill, tmp_path):
    fill(".page.html.")
    result = cli(*WRITING["frontier"].split(), "--schemes", "cfl", "--page", "page.html")
    assert result.exit_code == 1 and "No space left on device" in result.stderr
    assert {"frontier.csv", "rule_cfl.json"} <= {file.name for file in (tmp_path / "out").iterdir()}
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk_names_the_file(name, cli, fill, tmp_path):
    begun = fill()
    result = cli(*WRITING[name].split())
    (line,) = result.stderr.splitlines()
    assert result.exit_code == 1 and "No space left on device" in line
    (partial,) = begun
    assert partial.name.lstrip(".").split(whole_file.PARTIAL)[0].rsplit(".", 1)[0] in line
    assert not [file for file in tmp_path.rglob("*") if file.name.endswith(whole_file.PARTIAL)]


WORDS = {"PEOPLE": f"{PEOPLE} --client site", "SITE": f"{PEOPLE} --site n"}
WORDS["TWO"] = "--label y --group a"
ROWS = table_of(r"""
frontier | FILE
frontir | frontir | frontier
--nosuch | --nosuch
claims check --nosuch | --nosuch
frontier two.toml --points 1 | --points | 2 | got 1
figures nosuch | 'nosuch' | fedfb_figure_5
frontier two.toml --at 0.1 --at b | --at | number | got b
frontier two.toml --at nan | at
frontier PEOPLE --calibrate all | --calibrate must be one of | 'all' | 'client_group'
frontier two.toml --seed | --seed | requires
frontier two.toml --levels 99999999999 | --levels
frontier two.toml --label y --calibrate client | --label, --calibrate goes with a table of people
frontier two.toml --bootstraps 10 --seed 1 | --bootstraps, --seed goes with a table of people
frontier none.toml | no such file: 'none.toml'
frontier dir.toml | path must be a file, got the folder 'dir.toml'
frontier people.csv | --label, --group must name columns of people.csv, got none
frontier people.csv --score s TWO --feature z | --feature must not be given together with a score
frontier PEOPLE --out o --page p/x.html --at 1.5 | --at must be in [0, 1]
frontier PEOPLE --out o --bootstraps 19 | --bootstraps must be 0, or from 20 to 100000, got 19
frontier PEOPLE --bootstraps 1000000000000 | --bootstraps must be 0, or from 20 to 100000
frontier PEOPLE --group-pair young,nobody | 'young,nobody'
frontier PEOPLE --group a | must be different columns | 'a, a'
frontier PEOPLE --notion parity | --notion must be one of | 'accuracy_parity' | 'parity'
frontier PEOPLE --difference mean | difference must be one of | 'overall' | 'mean'
frontier PEOPLE --score z --monotone | --monotone goes with one score | got s, z
frontier PEOPLE --sees y | sees must be one of | 'xa' | 'y'
frontier PEOPLE --costs 5 | --costs must be balanced, or FN:FP | '5'
frontier PEOPLE --out o --costs 1,2,3:1 | --costs must be | each of 2 groups | (1.0, 2.0, 3.0)
frontier PEOPLE --schemes best | --schemes must be one of 'cfl' | got 'best'
frontier PEOPLE --guarantee 1 | --guarantee must be in (0, 1)
frontier people.csv TWO --feature s --guarantee 0.95 | guarantee goes with a score
frontier PEOPLE --local-eps -0.1 | --local-eps must be non-negative, got -0.1
simulate | NAME or CONFIG.toml must be given
simulate qffl-table-99 | experiment must be one of
simulate qffl-table-9 --profile slow | --profile
simulate qffl-table-9 --label y --blind | --label, --blind goes with a table of people
simulate run.toml --seeds 0 | --seeds | 1 | got 0
simulate run.toml --seeds 99999999999 | seeds | 1000
simulate two.toml --out o | two.toml: algorithm must be given
simulate none.toml | no such file: 'none.toml'
simulate none.csv TWO | no such file: 'none.csv'
simulate people.csv | --label, --group must name columns of people.csv, got none
simulate people.csv TWO --feature nothing | feature 'nothing' must be a column of people.csv
simulate people.csv TWO --budget -1 | --budget must be
simulate people.csv TWO --notion cp | notion
simulate people.csv TWO --hidden -1 | --hidden
crosscheck nothing | study must be one of 'dual-weights' | got 'nothing'
crosscheck ensemble --seeds 0 | --seeds
crosscheck ensemble --profile long | --profile
arena --algorithm FedAvgg --out o | algorithm must be
arena --federation atlantis --out o | federation must be
arena --algorithm AFL --federation agree --out o | must be such as can ask AFL
arena --predictions nowhere.csv --out o | nowhere.csv
arena --seeds 1 --out o | seeds
arena --profile paper --out o | profile
summarize SITE --levels 5 --edges 0,1 | of --levels, --edges and --categorical one at most must be
summarize SITE --edges 0,x | --edges must be numbers with commas | '0,x'
summarize SITE --edges 0,1 | edges must be three or more increasing
summarize SITE --levels 99999999999 | --levels | 10000
summarize SITE --min-cell 1 | --min-cell
summarize SITE --epsilon 2 --min-cell 5 | --min-cell, --epsilon and --round must not be given tog
summarize people.csv --score s TWO --site "" | site must not be empty
""")
"""A command line, with ``WORDS`` in the place of names, and parts of what is told."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_cannot_be_asked_is_one_line(refused, table, tmp_path, row):
    line, *messages = row
    config(tmp_path)
    (tmp_path / "two.toml").write_text(GOOD, "utf-8")
    (tmp_path / "dir.toml").mkdir()
    for name, words in WORDS.items():
        line = line.replace(name, words)
    refused(shlex.split(line), *messages)
