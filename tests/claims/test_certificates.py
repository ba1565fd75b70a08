"""Certificates accept what is true, reject what is not or was tampered with, and survive JSON."""

import json
import re
from fractions import Fraction

import pytest
from planted_claims import below, form, parts, residual

from fairfl.claims.call import Call
from fairfl.claims.certificates import (
    Beside,
    Counterexample,
    KernelProof,
    PropertyRun,
    Rejected,
    SymbolicZero,
    Witness,
    from_json,
)
from fairfl.claims.certificates.base import TYPES

DRAWS = Call.of(parts, low=0, high=2)


def row(x, margin):
    return {"instance": {"x": x}, "margin": margin}


def ran(worst, examples=10, discarded=0, draws=DRAWS):
    """A run of :func:`below` on 17 draws."""
    return PropertyRun(Call.of(below), 0.0, worst, draws, 17, examples, discarded, 0)


def zero(**changes):
    return SymbolicZero(Call.of(residual, **changes))


def sign(*, strict=False, **changes):
    return SymbolicZero(Call.of(form, **changes), "positive" if strict else "non-negative")


def at(kind, x, shows=""):
    """A counterexample or a witness of :func:`below`."""
    return kind.at(Call.of(below), shows or f"{x} squared", x=x)


ACCEPTED = {
    "symbolic zero": (zero(), "symbolic"),
    "definite form": (sign(), "symbolic"),
    "strict form": (sign(strict=True, lost=1, term=1), "symbolic"),
    "counterexample": (at(Counterexample, Fraction(3)), "certified"),
    "counterexample in floats": (at(Counterexample, 2.5), "numeric"),
    "witness": (at(Witness, 2), "certified"),
    "property": (ran(row("2/1", 0.0), discarded=3), "property"),
}
ACCEPTED["beside"] = Beside((at(Witness, 2), ran(row("2/1", 0.0)))), "proved"  # it lowers no level
"""Certificates of every type that stand, with the level that they must have."""
REJECTED = {
    "residual not zero": (zero(wrong=1), "binomial is"),
    "no residual": (zero(count=0), "no residual"),
    "an identity of one sign": (zero(pieces=True), "has no pieces"),
    "zero only where one looks": (zero(vanishing=1), "does not reduce"),
    "indefinite form": (sign(factor=-2), "not visibly"),
    "terms that miss": (sign(lost=1), "less its terms is 1.0"),
    "not strictly": (sign(strict=True), "no term is visibly positive"),
    "negative at a spot": (sign(lost=-9, term=-9), "the expression is -"),
    "no counterexample": (at(Counterexample, 2), "no relation certainly fails"),
    "premise broken": (at(Counterexample, -3), "premises sign"),
    "no witness": (at(Witness, 3), "not certain"),
    "violated": (ran(row(3, -5.0)), "violated by 5"),
    "margin not met again": (ran(row(1, 2.0)), "computed again"),
    "nothing kept": (ran({}), "no instance"),
    "all discarded": (ran(row(1, 3.0), examples=0, discarded=10), "no instance satisfied"),
    "most discarded": (ran(row(1, 3.0), examples=3, discarded=10), "77% of"),
    "drawn again": (ran(row(1, 3.0), draws=Call.of(parts, low=2, high=9)), "drawn again, violat"),
    "outside the premises": (ran(row(-1, 3.0)), "breaks the premises"),
}
REJECTED["beside"] = Beside((at(Witness, 2), at(Witness, 3))), "not certain"
REJECTED["beside, refuted"] = Beside((at(Counterexample, Fraction(3)),)), "must hold"
"""Certificates that say what is not so, with a word of the reason."""


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_true_is_accepted_at_its_level_and_survives_json(name):
    certificate, level = ACCEPTED[name]
    certificate.verify()
    assert certificate.level == level
    assert certificate.summary()
    again = from_json(json.loads(json.dumps(certificate.to_json())))
    assert again == certificate
    again.verify()


@pytest.mark.parametrize("name", REJECTED)
def test_what_is_not_true_is_rejected(name):
    certificate, reason = REJECTED[name]
    with pytest.raises(Rejected, match=re.escape(reason)):
        certificate.verify()


def test_every_type_is_tried_both_ways():
    for table in (ACCEPTED, REJECTED):
        tried = {type(certificate) for certificate, _ in table.values()}
        assert tried | {KernelProof} == set(TYPES.values())  # that one has a file of its own
