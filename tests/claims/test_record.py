"""The committed record: what it holds verifies again from its JSON alone, counterexamples in under
a second each.
"""

import json
import time

import pytest

from fairfl.claims import record
from fairfl.claims.evidence import Evidence
from fairfl.claims.registry import registered
from fairfl.claims.runner import recorded

RECORDED = recorded()
CURRENT = {c.claim.id: c.outcome for c in RECORDED if c.outcome is not None}
AGAIN = "fairfl claims check --record --jobs 2"
"""Records what is stale, at quick effort in at most two minutes, and keeps what is not."""


def test_the_record_has_files_of_claims_alone():
    names = {record.path_of(record.COMMITTED, id).name for id in registered()}
    assert {file.name for file in record.COMMITTED.iterdir()} <= names


def test_the_record_is_of_the_sources_as_they_are():
    stale = [c.claim.id for c in RECORDED if c.outcome is None]
    assert stale == [], f"run {AGAIN}"


@pytest.mark.parametrize("id", sorted(CURRENT))
def test_recorded_evidence_verifies_from_its_json(id):
    outcome = CURRENT[id]
    assert outcome.fault == "" and outcome.survivors == ()
    evidence = Evidence.from_json(json.loads(json.dumps(outcome.evidence)))
    assert (evidence.finding, evidence.level) == (outcome.finding, outcome.level)
    for certificate in (*evidence.parts, *evidence.extra):
        begin = time.perf_counter()
        certificate.verify()
        if certificate.finding == "refuted":
            assert time.perf_counter() - begin < 1.0
