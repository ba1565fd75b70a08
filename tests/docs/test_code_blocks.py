"""Pages are executed: their files are written, their commands run, and they print what is shown."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairfl.figures.lib import frontier_panels
from fairfl.solvers.api import frontier

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w-]+\.(?:py|toml))\n")
PAGES = ["README"]
PAGES += [f"docs/{page}" for page in ("objectives", "notions", "decisions", "sweeps", "simulator")]
PAGES += ["docs/start/people", "docs/start/research", "docs/start/referee"]


def run(text: str, folder: Path, cli: Callable[..., Any]) -> str:
    """What a page's blocks print; each ``text`` block is in what the blocks before it printed."""
    output, names = "", {"__name__": "page"}
    for language, code in BLOCK.findall(text):
        if file := NAMED.match(code):
            (folder / file[1]).write_text(code, "utf-8")
        elif language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, "page", "exec", dont_inherit=True), names)
            output += out.getvalue()
        elif language == "sh":  # fairfl in this process, which has imported it
            for command in re.split(r"\n(?=fairfl |python )", code.replace("\\\n", " ")):
                words = shlex.split(command)
                if words[0] == "fairfl":
                    done = cli(*words[1:])
                    assert done.exit_code == 0, f"{command}{done.stderr}"
                else:
                    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
                    options = {"cwd": folder, "env": {**os.environ, "PATH": path}}
                    done = subprocess.run(words, capture_output=True, text=True, **options)
                    assert done.returncode == 0, f"{command}{done.stderr}"
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
def test_a_page_prints_what_it_shows(page, tmp_path, monkeypatch, cli, own_parts_forgotten):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def of_few_points(federation, scheme, points, **options):  # pages show nothing of the pictures
        return frontier(federation, scheme, min(points, 2), **options)

    monkeypatch.setattr(frontier_panels, "frontier", of_few_points)
    run((ROOT / f"{page}.md").read_text("utf-8"), tmp_path, cli)
