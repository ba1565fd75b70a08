"""The claims at the deep profile: ten thousand examples, many attacks. Outcomes are kept, and a
stopped run goes on.
"""

from pathlib import Path

import pytest

from fairfl.claims.registry import registered
from fairfl.claims.runner import examine_id

KEPT = Path(__file__).resolve().parents[2] / "out" / "claims"


@pytest.mark.deep
@pytest.mark.parametrize("id", sorted(registered()))
def test_claim_deep(id):
    claim = registered()[id].claim
    outcome = examine_id(id, "deep", KEPT)
    assert outcome.fault == ""
    assert outcome.finding == ("refuted" if claim.expected == "holds-repaired" else claim.expected)
    assert [f"{m.name}: {m.reason}" for m in outcome.survivors] == []
