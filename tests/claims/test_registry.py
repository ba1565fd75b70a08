"""The claims themselves, at the quick profile: the evidence stands, the finding is the expected
one, mutants die.
"""

import re

import pytest

from fairfl.claims import sources
from fairfl.claims.claim import QUICK, REPAIRED
from fairfl.claims.outcome import examine
from fairfl.claims.registry import papers, registered

REGISTERED = registered()


@pytest.mark.parametrize("id", sorted(REGISTERED))
def test_claim(id):
    entry = REGISTERED[id]
    outcome = examine(entry.claim, QUICK, sources.key(entry.module))
    assert outcome.fault == ""
    expected = "refuted" if entry.claim.expected == "holds-repaired" else entry.claim.expected
    assert outcome.finding == expected, outcome.summaries
    assert [f"{m.name}: {m.reason}" for m in outcome.survivors] == []


def test_a_repaired_claim_holds_and_an_unrepaired_one_says_what_it_rests_on():
    for id, entry in REGISTERED.items():
        if id.endswith(REPAIRED):
            assert entry.claim.expected == "holds", id
        for other in entry.claim.rests_on:
            assert REGISTERED[other].claim.expected == "holds", (
                f"{id} rests on {other}, which does not hold as it is"
            )


def test_errata_of_papers_have_a_severity_and_say_the_repair_in_full():
    for id, entry in REGISTERED.items():
        claim = entry.claim
        theirs = bool(claim.erratum) and claim.whose != "ours" and papers()[claim.paper].printed
        assert (claim.severity is not None) == theirs, id
        # "see X" or "as in theorem X" sends an author elsewhere; the paper's own equations do not
        elsewhere = re.search(r"\b[Ss]ee |\bas in (theorem|lemma|fairfl|theory)", claim.erratum)
        assert not (theirs and elsewhere), id


def test_every_paper_says_which_text_was_read():
    for paper in papers().values():
        assert bool(paper.text) == paper.printed, paper.key
