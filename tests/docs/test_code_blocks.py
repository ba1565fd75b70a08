"""Pages are executed: their files are written, their commands run, and they print what is shown."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w-]+\.(?:py|toml))\n")
PAGES = ["README"]
PAGES += [f"docs/{page}" for page in ("objectives", "notions", "decisions", "sweeps", "simulator")]
PAGES += ["docs/start/people", "docs/start/research", "docs/start/referee"]


def run(text: str, folder: Path) -> str:
    """What the python, sh and named blocks of a page print, after each ``text`` block was found in
    what the blocks before it printed.
    """
    output, names = "", {"__name__": "page"}
    for language, code in BLOCK.findall(text):
        if file := NAMED.match(code):
            (folder / file[1]).write_text(code, "utf-8")
        elif language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, "page", "exec", dont_inherit=True), names)
            output += out.getvalue()
        elif language == "sh":
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
            done = subprocess.run(
                ["bash", "-ec", code], cwd=folder, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{code}{done.stderr}"
            output += done.stdout
        elif language == "text":
            assert code, "an output must be shown"
            printed = [line.rstrip() for line in output.splitlines()]
            for line in code.splitlines():
                assert line.rstrip() in printed, line
            output = ""
    return output


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run((ROOT / f"{page}.md").read_text("utf-8"), tmp_path)


@pytest.mark.parametrize(
    "page",
    [
        "```python\nprint(1)\n```\n```text\n2\n```\n",
        "```sh\nfalse\n```\n",
        "```text\n```\n",
        "```python\n# a.py\n1 / 0\n```\n```sh\npython a.py\n```\n",
    ],
)
def test_a_page_that_is_wrong_fails(page, tmp_path):
    with pytest.raises(AssertionError):
        run(page, tmp_path)
