"""The site of the documentation lists every public name; `make docs` builds it."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import fairfl

DOCS = Path(__file__).parents[2] / "docs"
NOT_LISTED = {"__version__", "NOTIONS", "trivial"}


@pytest.mark.parametrize("package", ["fairfl", "fairfl.theory.aggregation"])
def test_every_public_name_is_in_the_reference(package):
    text = (DOCS / "api.md").read_text("utf-8")
    (part,) = re.findall(rf"currentmodule:: {package}\n(.*?)```", text, re.DOTALL)
    listed = re.findall(r"^   (\w+)$", part, re.MULTILINE)
    public = set(fairfl.__all__ if package == "fairfl" else import_module(package).__all__)
    assert sorted(listed) == sorted(public - NOT_LISTED)


def test_every_page_is_in_the_contents():
    pages = {file.relative_to(DOCS).with_suffix("").as_posix() for file in DOCS.rglob("*.md")}
    listed = set()
    for file in DOCS.glob("*.md"):
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", file.read_text("utf-8"), re.DOTALL):
            for line in tree.split():
                listed |= {page for page in pages if Path(page).match(line)}
    assert pages - listed == {"index"}
