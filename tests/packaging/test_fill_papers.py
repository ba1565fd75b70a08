"""docs/papers: verdicts, errata and words are those of the record; all experiments and figures are
on a paper's page, and every name there is one.
"""

import re
import runpy
from pathlib import Path

from fairfl.claims.registry import registered
from fairfl.figures.catalog import all_figures as registry
from fairfl.studies.papers.all_experiments import experiments

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_are_those_of_the_record():
    """Written by ``python docs/fill_papers.py``."""
    tool = runpy.run_path(str(DOCS / "fill_papers.py"))
    assert len(tool["PAGES"]) == 6
    for page in tool["PAGES"]:
        blocks = [match[0] for match in tool["BLOCK"].finditer(page.read_text("utf-8"))]
        assert len(blocks) == 2 and all(len(block.splitlines()) > 4 for block in blocks)
        assert page.read_text("utf-8") == tool["filled"](page), "run python docs/fill_papers.py"


def test_all_commands_and_no_others():
    page = "".join(
        file.read_text("utf-8") for file in [DOCS / "papers.md", *DOCS.glob("papers/*.md")]
    )
    commands = {"simulate": set(), "figures": set(), "claims": set()}
    for command, names in re.findall(r"`(simulate|figures|claims) ([^`.]+)`", page):
        commands[command] |= set(names.split())
    assert commands["simulate"] == set(experiments())
    assert commands["figures"] == set(registry.registered())
    assert commands["claims"] <= registered().keys()
