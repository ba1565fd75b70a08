"""Certificates accept what is true, reject what is not, and survive JSON; a tampered one is
rejected.
"""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from planted_claims import below, form, gap, inside, parts, residual

from fairfl.claims.bisection import bisect
from fairfl.claims.call import Call
from fairfl.claims.certificates import (
    Counterexample,
    DefiniteForm,
    IntervalLeaves,
    KernelProof,
    NumericGrid,
    PropertyRun,
    Rejected,
    SymbolicZero,
    Witness,
    from_json,
)
from fairfl.claims.certificates.base import TYPES

POINTS = ({"x": "1/3", "y": "-2/7"}, {"x": "5", "y": "3"})
DRAWS = Call.of(parts, low=0, high=2)
UNIT = [(Fraction(0), Fraction(1))] * 2


def kept(x, margin):
    return {"instance": {"x": x}, "margin": margin}


def ran(*worst, examples=10, discarded=0, draws=DRAWS, attacks=(0, 0)):
    """A run of :func:`below` on 17 draws."""
    return PropertyRun(Call.of(below), 0.0, worst, draws, 17, examples, discarded, 0, *attacks)


def accepted():
    """One certificate of every type that stands, with the level that it must have."""
    statement = Call.of(below)
    return {
        "symbolic zero": (SymbolicZero(Call.of(residual), "expand", POINTS), "symbolic"),
        "definite form": (DefiniteForm(Call.of(form), "expand", POINTS), "symbolic"),
        "strict form": (
            DefiniteForm(Call.of(form, lost=1, term=1), "expand", POINTS, strict=True),
            "symbolic",
        ),
        "leaves": (bisect(Call.of(gap, bound="2.1"), UNIT), "certified"),
        "leaves, closed": (
            bisect(Call.of(gap), [(Fraction(0), Fraction(0)), UNIT[1]], strict=False),
            "certified",
        ),
        "leaves with premises": (
            bisect(Call.of(inside), [(Fraction(0), Fraction(3))]),
            "certified",
        ),
        "counterexample": (
            Counterexample.at(statement, "3 squared is 9", x=Fraction(3)),
            "certified",
        ),
        "counterexample in floats": (Counterexample.at(statement, "about 2", x=2.5), "numeric"),
        "witness": (Witness.at(statement, "2 squared is 4", x=2), "certified"),
        "property": (
            ran(kept("2/1", 0.0), kept("1/1", 3.0), discarded=3, attacks=(1, 5)),
            "property",
        ),
        "grid": (NumericGrid(statement, 0.0, (kept(1.5, 1.75),), 4, "quarters"), "numeric"),
    }


def rejected():
    """Certificates that say what is not so, with a word of the reason."""
    good = {name: certificate for name, (certificate, _) in accepted().items()}
    statement = Call.of(below)
    leaves = good["leaves with premises"]
    assert isinstance(leaves, IntervalLeaves)
    return {
        "residual not zero": (
            SymbolicZero(Call.of(residual, wrong=1), "expand", POINTS),
            "binomial is",
        ),
        "no spot": (SymbolicZero(Call.of(residual), "expand", ()), "no point"),
        "no residual": (SymbolicZero(Call.of(residual, count=0), "expand", POINTS), "no residual"),
        "spot without a value": (
            SymbolicZero(Call.of(residual), "expand", ({"x": "1"},)),
            "no value for y",
        ),
        "unknown method": (SymbolicZero(Call.of(residual), "hope", POINTS), "method must be"),
        "zero only where one looks": (
            SymbolicZero(Call.of(residual, wrong=1), "expand", ({"x": "0", "y": "4"},)),
            "does not reduce",
        ),
        "indefinite form": (
            DefiniteForm(Call.of(form, factor=2), "expand", POINTS[:1]),
            "not visibly",
        ),
        "terms that miss": (DefiniteForm(Call.of(form, lost=1), "expand", POINTS), "1 is left"),
        "not strictly": (
            DefiniteForm(Call.of(form), "expand", POINTS, strict=True),
            "no term is visibly positive",
        ),
        "negative at a spot": (
            DefiniteForm(Call.of(form, lost=-9), "expand", POINTS),
            "the expression is",
        ),
        "bound not met": (bisect(Call.of(gap, bound="1"), UNIT, most=200), "undecided"),
        "bound touched": (bisect(Call.of(gap), UNIT, most=200), "undecided"),
        "leaf too large": (
            replace(good["leaves"], tree=".", box=(("0/1", "9/1"), ("0/1", "9/1"))),
            "not certain",
        ),
        "tree cut": (replace(leaves, tree=leaves.tree[:-1]), "undecided"),
        "tree grown": (replace(leaves, tree=leaves.tree + "."), "goes on"),
        "no such axis": (replace(leaves, tree="1.."), "no coordinate"),
        "box turned": (replace(leaves, box=(("3/1", "0/1"),)), "not a box"),
        "no counterexample": (
            Counterexample.at(statement, "2 squared", x=2),
            "no relation certainly fails",
        ),
        "premise broken": (Counterexample.at(statement, "-3 squared", x=-3), "premises sign"),
        "no witness": (Witness.at(statement, "3 squared", x=3), "not certain"),
        "violated": (ran(kept(3, -5.0)), "violated by 5"),
        "margin not met again": (ran(kept(1, 2.0)), "computed again"),
        "nothing kept": (ran(), "no instance"),
        "all discarded": (ran(kept(1, 3.0), examples=0, discarded=10), "no instance satisfied"),
        "most discarded": (ran(kept(1, 3.0), examples=3, discarded=10), "77% of"),
        "drawn again": (
            ran(kept(1, 3.0), draws=Call.of(parts, low=2, high=9)),
            "drawn again, violated",
        ),
        "outside the premises": (
            NumericGrid(statement, 0.0, (kept(-1, 3.0),), 1, "one"),
            "breaks the premises",
        ),
    }


ACCEPTED, REJECTED = accepted(), rejected()


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


def test_bad_json_is_one_clear_error():
    with pytest.raises(
        ValueError, match="type of a certificate must be one of .*SymbolicZero.*got 'Guess'"
    ):
        from_json({"type": "Guess"})
    with pytest.raises(ValueError, match="a Witness must have instance"):
        from_json({"type": "Witness", "statement": Call.of(below).to_json(), "shows": ""})


def test_leaves_cover_the_box_and_meet_only_at_their_borders():
    certificate = bisect(Call.of(gap, bound="2.1"), UNIT)
    leaves = list(certificate.leaves())
    assert len(leaves) > 4
    assert sum((b - a) * (d - c) for (a, b), (c, d) in leaves) == 1
    for x, y in [
        (Fraction(1, 3), Fraction(2, 7)),
        (Fraction(0), Fraction(1)),
        (Fraction(9, 10), Fraction(1, 10)),
    ]:
        assert sum(a <= x <= b and c <= y <= d for (a, b), (c, d) in leaves) == 1


def test_bisection_stops_at_a_violation():
    certificate = bisect(Call.of(gap, bound="1"), UNIT)
    assert certificate.tree == ""
    with pytest.raises(Rejected, match="leaves 1 boxes undecided"):
        certificate.verify()
