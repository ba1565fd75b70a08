"""The claims themselves, at the quick profile: the evidence stands, the finding is the expected
one, mutants die.
"""

import pytest

from fairfl.claims import sources
from fairfl.claims.claim import QUICK, REPAIRED
from fairfl.claims.outcome import examine
from fairfl.claims.registry import registered

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
