"""Examples of the README and of docs/objectives.md run; links, and paths in ARCHITECTURE.md, lead
somewhere.
"""

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
PAGES = [*ROOT.glob("*.md"), ROOT / "claims" / "README.md", *(ROOT / "docs").rglob("*.md")]
EXAMPLES = [
    example
    for text in (README, (ROOT / "docs" / "objectives.md").read_text("utf-8"))
    for example in re.findall(
        r"```python\n((?:(?!```).)*?)```\s*```text\n(.*?)```", text, re.DOTALL
    )
]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_a_python_example_prints_what_is_shown(number: int) -> None:
    code, shown = EXAMPLES[number]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue() == shown


@pytest.mark.slow
def test_the_table_of_people_is_what_the_command_prints(tmp_path: Path) -> None:
    section = README[README.index("## On your own data") :]
    people, command, shown = re.findall(r"```(?:python|text)?\n(.*?)```", section, re.DOTALL)[:3]
    subprocess.run([sys.executable, "-c", people], cwd=tmp_path, check=True)
    words = shlex.split(command)
    assert words[0] == "fairfl"
    run = [sys.executable, "-m", "fairfl", *words[1:]]
    environment = {**os.environ, "COLUMNS": "100"}
    told = subprocess.run(
        run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    ).stdout
    printed = [line.strip() for line in told.splitlines()]
    for line in shown.splitlines():
        assert line.strip() in printed, line
    assert (tmp_path / "out" / "frontier.png").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_paths_that_the_architecture_names_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for path in re.findall(r"`(\w+/[\w./]*)`", text):
        assert (ROOT / path).exists() or any(ROOT.glob(f"*/{path}")), path
