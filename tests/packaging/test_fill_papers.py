"""docs/papers: verdicts, errata and words stand in the pages, and are those of the record."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_are_those_of_the_record():
    """Written by ``python docs/fill_papers.py``."""
    tool = runpy.run_path(str(DOCS / "fill_papers.py"))
    assert len(tool["PAGES"]) == 6
    for page in tool["PAGES"]:
        blocks = [match[0] for match in tool["BLOCK"].finditer(page.read_text("utf-8"))]
        assert len(blocks) == 2 and all(len(block.splitlines()) > 4 for block in blocks)
        assert page.read_text("utf-8") == tool["filled"](page), "run python docs/fill_papers.py"
