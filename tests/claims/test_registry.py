"""The committed record: it is of the sources as they are, and of each claim shows the expected
finding and no mutant alive. The claims themselves, at the quick profile, a third of them here and
all in the deep tests: the evidence stands, and so does what was recorded.
"""

import json
import re
from pathlib import Path

import pytest

from fairfl.claims import dependencies, record
from fairfl.claims.claim import QUICK, REPAIRED
from fairfl.claims.evidence import Evidence
from fairfl.claims.outcome import examine
from fairfl.claims.registry import papers, registered
from fairfl.claims.runner import examine_id, recorded

REGISTERED = registered()
RECORDED = {c.claim.id: c.outcome for c in recorded()}
AGAIN = "fairfl claims check --record --jobs 2"
"""Records what is stale, at quick effort in at most two minutes, and keeps what is not."""


def expected(id):
    """The finding."""
    finding = REGISTERED[id].claim.expected
    return "refuted" if finding == "holds-repaired" else finding


def assert_passed(outcome):
    assert outcome.fault == ""
    assert outcome.finding == expected(outcome.id), outcome.summaries
    assert [f"{m.name}: {m.reason}" for m in outcome.survivors] == []


@pytest.mark.deep
@pytest.mark.parametrize("id", sorted(REGISTERED))
def test_claim_deep(id):
    """Ten thousand examples; outcomes are kept, and a stopped run goes on."""
    assert_passed(examine_id(id, "deep", Path(__file__).resolve().parents[2] / "out" / "claims"))


@pytest.mark.every(3)
@pytest.mark.parametrize("id", sorted(REGISTERED))
def test_claim(id):
    entry = REGISTERED[id]
    outcome = examine(entry.claim, QUICK, dependencies.key(entry.module))
    assert_passed(outcome)
    past = RECORDED[id]
    if past is not None and past.evidence != outcome.evidence:  # else it was verified just now
        Evidence.from_json(json.loads(json.dumps(past.evidence))).verify()


def test_the_record_shows_what_is_expected():
    for id, past in RECORDED.items():
        if past is not None:
            assert (past.fault, past.survivors, past.finding) == ("", (), expected(id)), id
            evidence = Evidence.from_json(json.loads(json.dumps(past.evidence)))
            assert (evidence.finding, evidence.level) == (past.finding, past.level), id


def test_the_record_is_of_the_claims_and_the_sources_as_they_are():
    names = {record.path_of(record.COMMITTED, id).name for id in REGISTERED}
    assert {file.name for file in record.COMMITTED.iterdir()} <= names
    assert [id for id, past in RECORDED.items() if past is None] == [], f"run {AGAIN}"


def test_a_repaired_claim_holds_and_an_unrepaired_one_says_what_it_rests_on():
    for id, entry in REGISTERED.items():
        if id.endswith(REPAIRED):
            assert entry.claim.expected == "holds", id
        for premise in entry.claim.rests_on:
            assert REGISTERED[premise].claim.expected == "holds", (
                f"{id} rests on {premise}, which does not hold as it is"
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
