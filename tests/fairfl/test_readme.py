"""The README's example runs, and prints what it says; its links lead somewhere."""

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_python_example_prints_what_is_shown():
    found = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", README, re.DOTALL)
    assert found is not None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(found[1], "README.md", "exec"), {})
    assert out.getvalue() == found[2]


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
