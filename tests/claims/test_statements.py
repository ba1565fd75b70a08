"""Every statement of the five papers has a claim, or stands in the list of those that are
missing.
"""

from pathlib import Path

import pytest

from fairfl.claims.registry import papers, registered

HERE = Path(__file__).parent
ASKED = (HERE / "statements.txt").read_text("utf-8").split()


def missing(paper: str) -> set[str]:
    """The ids still to be written, in missing/PAPER.txt: one file a paper, each line deleted with
    its claim written.
    """
    return set((HERE / "missing" / f"{paper}.txt").read_text("utf-8").split())


PRINTED = {key for key, paper in papers().items() if paper.printed}
"""What was measured (``empirical/``) is no paper's statement, and nobody has listed it."""


@pytest.mark.parametrize("paper", sorted(PRINTED))
def test_the_missing_claims_are_exactly_those_listed(paper):
    asked = {id for id in ASKED if id.startswith(f"{paper}/")}
    assert asked, f"no statement of {paper} in statements.txt"
    assert asked - registered().keys() == missing(paper)


def test_every_statement_belongs_to_a_paper():
    assert {id.partition("/")[0] for id in ASKED} == PRINTED
    assert len(ASKED) == len(set(ASKED)) == 70
