"""Counterexamples and algebra quote numbers that another formula does not have."""

from dataclasses import replace

import pytest

from fairfl.claims.certificates import Counterexample, Rejected, SymbolicZero
from fairfl.claims.certificates.base import ClaimCertificate
from fairfl.claims.runner import recorded

PINNED = {
    "fedfb/assumption-7/repaired": "zero itself is the residual",
    "propfair/generalized-means": "for two clients and three, beside what quotes for any number",
}
"""Algebra that has no left side to quote, and the reason; lemmas 23 to 27 compare with the text."""


def certificates(part: ClaimCertificate):
    """A part, and what is beside it."""
    yield part
    for inner in (*getattr(part, "otherwise", ()), *getattr(part, "parts", ())):
        yield from certificates(inner)


def test_every_counterexample_and_algebra_quotes_numbers():
    silent = set()
    for c in recorded():
        parts = c.outcome.evidence.parts if c.outcome and c.outcome.evidence else ()
        for part in (inner for outer in parts for inner in certificates(outer)):
            if isinstance(part, (Counterexample, SymbolicZero)) and not part.numbers:
                silent.add(c.claim.id)
    of_notions = {f"fedfb/lemma-{n}/repaired" for n in (23, 25, 26, 27)}
    of_notions |= {id.removesuffix("/repaired") for id in of_notions}
    assert silent - of_notions <= set(PINNED), "a counterexample must quote its numbers"


@pytest.mark.parametrize("id", ["dynamic/definition-1", "fedfb/remark-5"])
def test_other_numbers_are_rejected(id):
    claim = next(c for c in recorded() if c.claim.id == id)
    (part,) = claim.outcome.evidence.parts
    part.verify()
    with pytest.raises(Rejected, match="the numbers are"):
        replace(part, numbers=part.numbers.replace("1", "2")).verify()
