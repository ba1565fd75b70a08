"""The README's examples run, and print what it says; its links lead somewhere."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n((?:(?!```).)*?)```\s*```text\n(.*?)```", README, re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_a_python_example_prints_what_is_shown(number: int) -> None:
    code, shown = EXAMPLES[number]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue() == shown


@pytest.mark.slow
def test_the_table_of_people_is_what_the_command_prints(tmp_path: Path) -> None:
    section = README[README.index("## On a table of people") :]
    command, people, shown = re.findall(r"```(?:python|text)?\n(.*?)```", section, re.DOTALL)[:3]
    subprocess.run([sys.executable, "-c", people], cwd=tmp_path, check=True)
    words = shlex.split(command)
    assert words[0] == "fairfl"
    run = [sys.executable, "-m", "fairfl.cli.main", *words[1:]]
    environment = {**os.environ, "COLUMNS": "100"}
    told = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    printed = [line.strip() for line in told.splitlines()]
    for line in shown.splitlines():
        assert line.strip() in printed, line
    assert (tmp_path / "out" / "frontier.png").is_file()


def test_links_to_files_lead_somewhere():
    for file in ("README.md", "ARCHITECTURE.md"):
        text = (ROOT / file).read_text("utf-8")
        for link in re.findall(r"\]\(([^)]+)\)", text):
            assert link.startswith("https://") or (ROOT / link).exists(), f"{file}: {link}"


def test_files_that_the_architecture_names_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    folder = ""
    for line in text.splitlines():
        heading = re.match(r"### `(\w+)/`", line)
        if heading:
            folder = heading[1]
        row = re.match(r"\| `([\w./]+)`", line)
        if row and folder:
            assert (ROOT / folder / row[1]).exists(), f"{folder}/{row[1]}"
