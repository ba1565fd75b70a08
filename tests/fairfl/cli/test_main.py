"""What all commands share: help, versions, and exit codes."""

import json
import os
import select
import subprocess
import sys
import time

import pytest
import typer

import fairfl as ff
from fairfl.cli import progress
from fairfl.cli.main import app
from fairfl.cli.output import CONTROLS


def test_wrong_usage_and_no_certificate_have_their_codes(cli, tmp_path, monkeypatch):
    assert cli("frontier").exit_code == 2
    assert cli("nosuch").exit_code == 2
    assert cli("frontier", "x.csv", "--points", "1").exit_code == 2
    (tmp_path / "two.toml").write_text("[[clients]]\nmean = [3, 5]\n")

    def uncertain(*args, **kwargs):
        raise ff.CertificationError("no solution certified")

    monkeypatch.setattr("fairfl.reports.curves.frontier", uncertain)
    result = cli("frontier", tmp_path / "two.toml")
    assert (result.exit_code, result.stderr) == (1, "fairfl: error: no solution certified\n")


def test_version_and_help(cli):
    assert cli("--version").stdout == f"fairfl {ff.__version__}\n"
    shown = cli("--help").stdout
    assert all(command in shown for command in ("figures", "frontier", "reproduce", "bench"))


def commands(group=None):
    """The words of every command and group, however deep."""
    found = typer.main.get_command(app) if group is None else group
    yield ()
    for name, one in getattr(found, "commands", {}).items():
        yield from ((name, *words) for words in commands(one))


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_every_command_has_its_help_under_both_names(cli, words):
    short, long = cli(*words, "-h"), cli(*words, "--help")
    assert (short.exit_code, short.stderr) == (0, "")
    assert short.stdout == long.stdout and short.stdout.startswith("Usage: ")


RICH = "import rich, fairfl.cli.output as output; output.plain_output(); rich.print(3)"


@pytest.mark.skipif(os.name != "posix", reason="pipes without a reader")
@pytest.mark.parametrize(
    "words",
    [("-m", "fairfl", "-h"), ("-m", "fairfl", "figures", "--list"), ("-c", RICH)],
    ids=["help", "echo", "rich"],
)
def test_a_reader_that_leaves_ends_the_program_in_peace(words):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, *words], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


STEERING = "a\x1b[31m\x9b\a"


@pytest.mark.skipif(os.name != "posix", reason="terminals")
def test_no_name_steers_the_terminal(tmp_path):
    client = f"[[clients]]\nname = {json.dumps(STEERING)}\nlaws = ["
    client += "{points = [0, 1], masses = [0.2, 0.8]}, {points = [0, 1], masses = [0.5, 0.5]}]\n"
    (tmp_path / "f.toml").write_text(client, "utf-8")
    here, terminal = os.openpty()
    line = [sys.executable, "-m", "fairfl", "frontier", "f.toml", "--points", "3"]
    with subprocess.Popen(
        line, cwd=tmp_path, stdout=terminal, stderr=subprocess.DEVNULL
    ) as process:
        said = b""
        while process.poll() is None or select.select([here], [], [], 0)[0]:
            if select.select([here], [], [], 0.1)[0]:
                said += os.read(here, 4096)
    os.close(here)
    os.close(terminal)
    text = said.decode().replace("\r\n", "\n")
    assert r"client: a\u001b[31m\u009b\u0007 (100 %)" in text
    assert "disparity" in text and not any(ord(c) in CONTROLS for c in text)


def test_a_stage_that_takes_long_is_named_without_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LONG", 0.05)
    with progress.stages() as tell:
        tell("frontier of CFL")
        until = time.monotonic() + 30
        while not (said := capsys.readouterr().err) and time.monotonic() < until:
            time.sleep(0.01)
        monkeypatch.setattr(progress, "LONG", 1e6)
        tell("a stage that is over at once")
    assert (said, capsys.readouterr().err) == ("fairfl: frontier of CFL ...\n", "")


def test_help_is_fast():
    code = (
        "import sys, fairfl.cli.main\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'matplotlib', 'fairfl.solvers'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
