"""What all commands share: help, versions, and exit codes."""

import json
import os
import re
import select
import subprocess
import sys

import pytest
import typer

import fairfl as ff
from fairfl.cli.lib.output import CONTROLS
from fairfl.cli.main import app
from fairfl.reports import terminal


def test_no_certificate_is_1(cli, tmp_path, monkeypatch):
    (tmp_path / "two.toml").write_text("[[clients]]\nmean = [3, 5]\n")

    def uncertain(*args, **kwargs):
        raise ff.CertificationError("no solution certified")

    monkeypatch.setattr("fairfl.reports.curves.frontier", uncertain)
    result = cli("frontier", tmp_path / "two.toml")
    assert (result.exit_code, result.stderr) == (1, "fairfl: error: no solution certified\n")


def commands(group=None):
    """The words of every command and group, however deep."""
    command_group = typer.main.get_command(app) if group is None else group
    yield ()
    for name, subgroup in getattr(command_group, "commands", {}).items():
        yield from ((name, *words) for words in commands(subgroup))


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_every_command_has_its_help_under_both_names(cli, words):
    short, long = cli(*words, "-h"), cli(*words, "--help")
    assert (short.exit_code, short.stderr) == (0, "")
    assert short.stdout == long.stdout and short.stdout.startswith("Usage: ")


RICH = "import rich, fairfl.cli.lib.output as output; output.plain_output(); rich.print(3)"


@pytest.mark.skipif(os.name != "posix", reason="pipes without a reader")
@pytest.mark.parametrize("words", [("-m", "fairfl", "--help"), ("-c", RICH)], ids=["echo", "rich"])
def test_a_reader_that_leaves_ends_the_program_in_peace(words):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, *words], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


STEERING = "a\x1b[31m\x9b\a"
FEDERATION = f"""[[clients]]
name = {json.dumps(STEERING)}
laws = [{{points = [0, 1], masses = [0.2, 0.8]}}, {{points = [0, 1], masses = [0.5, 0.5]}}]
"""
COLOUR = re.compile("\x1b\\[[0-9;]*3[0-9]m")


def on_terminal(words, folder):
    """Exit code, standard output and errors on a terminal 60 columns wide."""
    (folder / "f.toml").write_text(FEDERATION, "utf-8")
    size = {"COLUMNS": "60", "LINES": "24", "TERM": "xterm-256color"}
    line = [sys.executable, "-m", "fairfl", *words.split()]
    pairs = [os.openpty() for _ in range(2)]
    said = [b"", b""]
    streams = {"stdout": pairs[0][1], "stderr": pairs[1][1]}
    with subprocess.Popen(line, cwd=folder, env=os.environ | size, **streams) as process:
        ends = [master for master, _ in pairs]
        while process.poll() is None or select.select(ends, [], [], 0)[0]:
            for end in select.select(ends, [], [], 0.1)[0]:
                said[ends.index(end)] += os.read(end, 4096)
    for end in (end for pair in pairs for end in pair):
        os.close(end)
    return process.returncode, *(text.decode().replace("\r\n", "\n") for text in said)


terminals = pytest.mark.skipif(os.name != "posix", reason="terminals")


@terminals
def test_no_name_steers_the_terminal_and_lines_fit(tmp_path):
    code, text, bars = on_terminal("frontier f.toml --points 3", tmp_path)
    assert code == 0 and r"client: a\u001b[31m\u009b\u0007 (100 %)" in text
    assert "disparity" in text and not any(ord(c) in CONTROLS for c in text)
    assert max(map(len, text.splitlines())) <= 60
    assert "frontier of CFL" in bars and COLOUR.search(bars)


def test_tables_that_do_not_fit_stand_in_blocks(monkeypatch, capsys):
    rows = [["name", "first", "second"], ["a long name", "1.5 ± 0.5", "2.5 ± 0.25"]]
    terminal.tell_table(rows)
    monkeypatch.setattr(terminal, "width", lambda: 25)
    terminal.tell_table(rows)
    assert (
        capsys.readouterr().out
        == """name         first      second
a long name  1.5 ± 0.5  2.5 ± 0.25
name         first
a long name  1.5 ± 0.5

name         second
a long name  2.5 ± 0.25
"""
    )


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("fairfl fi", ["figures"]),
        ("fairfl figures fedfb_figure_8", ["fedfb_figure_8"]),
        ("fairfl simulate qffl-table-1", ["qffl-table-1", "qffl-table-10"]),
        ("fairfl crosscheck ens", ["ensemble"]),
    ],
)
def test_shells_complete_commands_and_names(words, completions, monkeypatch, capsys):
    place = str(words.count(" "))
    environment = {"_FAIRFL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": place}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        app(prog_name="fairfl")
    shown = capsys.readouterr()
    assert (shown.out.split(), shown.err) == (completions, "")
