"""Every statement of the five papers that statements.txt lists has a claim."""

from pathlib import Path

from fairfl.claims.registry import papers, registered

ASKED = Path(__file__).with_name("statements.txt").read_text("utf-8").split()
PRINTED = {key for key, paper in papers().items() if paper.printed}
"""What was measured (``empirical/``) is no paper's statement, and nobody has listed it."""


def test_no_claim_is_missing():
    assert set(ASKED) - registered().keys() == set()


def test_every_statement_belongs_to_a_paper():
    assert {id.partition("/")[0] for id in ASKED} == PRINTED
    assert len(ASKED) == len(set(ASKED)) == 70
