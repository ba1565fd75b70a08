"""The committed record: it is of the sources as they are, and of each claim shows the expected
finding and no mutant alive. The claims themselves, at the quick profile, a third of them here and
all in the deep tests: the evidence stands, and so does what was recorded. Proofs are compiled once,
all together, in test_kernel_proof.py.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from fairfl.claims import instances, record
from fairfl.claims.certificates import KernelProof, PropertyRun
from fairfl.claims.certificates.kernel_proof import COMPILING, FOLDER
from fairfl.claims.effort import DEEP, QUICK
from fairfl.claims.ids import REPAIRED
from fairfl.claims.outcome import examine
from fairfl.claims.registry import papers, registered
from fairfl.claims.runner import on_record, put_on_record, recorded

REGISTERED = registered()
AGAIN = "fairfl claims check --record --jobs 2"
"""Records what is stale, at quick effort in at most two minutes, and keeps what is not."""


@pytest.fixture(autouse=True)
def no_proof_is_compiled():
    token = COMPILING.set(False)
    yield
    COMPILING.reset(token)


@cache
def outcomes():
    """Those on record, by id: digests of all sources take seconds."""
    return {c.claim.id: c.outcome for c in recorded()}


def parts(outcome):
    """All certificates of an outcome, those inside others too."""
    outer = outcome.evidence.parts if outcome and outcome.evidence else ()
    return [part for whole in outer for part in whole.every()]


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
    store = record.Record(Path(__file__).resolve().parents[2] / "out" / "claims" / record.NAME)
    outcome = on_record(store, REGISTERED[id], "deep") or examine(REGISTERED[id].claim, DEEP)
    put_on_record(store, REGISTERED[id], outcome)
    assert_passed(outcome)


@pytest.mark.every(3)
@pytest.mark.parametrize("id", sorted(REGISTERED))
def test_claim(id):
    outcome = examine(REGISTERED[id].claim, QUICK)
    assert_passed(outcome)
    past = outcomes()[id]
    if past is not None and past.evidence != outcome.evidence:  # else it was verified just now
        past.verify()


def test_the_record_shows_what_is_expected():
    for id, past in outcomes().items():
        if past is not None:
            assert past.finding == expected(id) and past.evidence is not None, id
            assert (past.evidence.finding, past.evidence.level) == (past.finding, past.level), id


def test_the_record_is_of_the_claims_and_the_sources_as_they_are():
    assert record.Record(record.COMMITTED).rows.keys() <= REGISTERED.keys()
    assert [id for id, past in outcomes().items() if past is None] == [], f"run {AGAIN}"


def test_a_repaired_claim_holds_and_an_unrepaired_one_says_what_it_rests_on():
    for id, entry in REGISTERED.items():
        if id.endswith(REPAIRED):
            assert entry.claim.expected == "holds", id
        for premise in entry.claim.rests_on:
            assert REGISTERED[premise].claim.expected == "holds", f"{id} rests on {premise}"


def test_errata_of_papers_have_a_severity_and_say_the_repair_in_full():
    for id, entry in REGISTERED.items():
        claim = entry.claim
        theirs = bool(claim.erratum) and claim.whose != "ours" and papers()[claim.paper].printed
        assert (claim.severity is not None) == theirs, id
        # "see X" or "as in theorem X" sends an author elsewhere; the paper's own equations do not
        elsewhere = re.search(r"\b[Ss]ee |\bas in (theorem|lemma|fairfl|theory)", claim.erratum)
        assert not (theirs and elsewhere), id


def test_every_claim_of_a_paper_has_a_row_for_its_words():
    assert REGISTERED.keys() == {id for id in instances.rows() if "/" in id and ":" not in id}


STILL = {"fedfb/lemma-18", "fedfb/lemma-19", "fedfb/lemma-22", "fedfb/remark-9"}
"""Their instances are whole numbers that a solver takes, or lengths that must stay rational."""


def test_drawn_instances_have_neighbours():
    """A hypothesis or domain that is 1 % wider is noticed next to what strategies draw."""
    for id, outcome in outcomes().items():
        runs = [part for part in parts(outcome) if isinstance(part, PropertyRun)]
        assert all(part.moved for part in runs) or id.startswith(tuple(STILL)), id


def test_every_theorem_of_a_proof_is_one_that_a_claim_names():
    """A claim that names fewer theorems says less of its proof."""
    proofs = [p for o in outcomes().values() for p in parts(o) if isinstance(p, KernelProof)]
    named = {(proof.file, name) for proof in proofs for name in proof.theorems.split()}
    assert named == {
        (path.name, name)
        for path in FOLDER.glob("*.v")
        for name in re.findall(r"^Theorem (\w+)", path.read_text("utf-8"), re.MULTILINE)
    }


def test_every_paper_says_which_text_was_read():
    for paper in papers().values():
        assert bool(paper.text) == paper.printed, paper.key
