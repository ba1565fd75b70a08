"""docs/papers: every experiment and figure is on a paper's page, and every name there is one."""

import re
from pathlib import Path

from fairfl.claims.registry import registered
from fairfl.figures.catalog import all_figures as registry
from fairfl.studies.papers.all_experiments import experiments

DOCS = Path(__file__).parents[2] / "docs"


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
