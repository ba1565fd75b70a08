"""docs/papers names every claim of a paper (or the claim that it is a part of), no other, and a
reason where it names none; every statement that statements.txt lists has a claim.
"""

import re
from pathlib import Path

import pytest

from fairfl.claims.ids import REPAIRED
from fairfl.claims.registry import papers, registered

FOLDER = Path(__file__).resolve().parents[2] / "docs"
PAGES = {
    page.stem: page.read_text("utf-8").split("\n## All statements\n")[1]
    for page in FOLDER.glob("papers/*.md")
}
REASONS = set(re.findall(r"^\| \*([a-z ]+)\* \|", (FOLDER / "papers.md").read_text("utf-8"), re.M))
ROW = re.compile(r"^\| (?!---|place )(.+?) \| (.+) \| (.+?) \|$", re.M)


def named(text: str) -> set[str]:
    """The ids between backticks."""
    return set(re.findall(r"`([a-z]+/[\w./-]+)`", text))


@pytest.mark.parametrize("paper", sorted(PAGES))
def test_every_claim_is_named_and_every_name_is_a_claim(paper):
    claims, bases = registered(), {id.removesuffix(REPAIRED) for id in named(PAGES[paper])}
    of_paper = {id for id in claims if id.startswith(f"{paper}/")}
    assert named(PAGES[paper]) - claims.keys() == set()
    assert {id for id in of_paper if not any(f"{id}/".startswith(f"{t}/") for t in bases)} == set()


@pytest.mark.parametrize("paper", sorted(PAGES))
def test_every_row_names_a_claim_or_a_reason(paper):
    rows = ROW.findall(PAGES[paper])
    assert len(rows) == PAGES[paper].count("\n| ") - 2  # the heading and the line below it
    for place, statement, decided in rows:
        reasons = set(re.findall(r"\*([a-z ]+)\*", decided))
        assert reasons <= REASONS, place
        assert reasons or named(decided) or decided.startswith("as above"), (place, statement)


def test_no_listed_statement_is_without_a_claim():
    listed = Path(__file__).with_name("statements.txt").read_text("utf-8").split()
    assert len(listed) == len(set(listed)) == 70 and set(listed) <= registered().keys()
    assert {id.partition("/")[0] for id in listed} == {k for k, p in papers().items() if p.printed}
