"""Levels and verdicts: a claim is no better than what it rests on; a repair mends its original."""

import re
from dataclasses import replace

import pytest
from planted_claims import below, claim, wide

from fairfl.claims.call import Call
from fairfl.claims.certificates import Counterexample, PropertyRun, SymbolicZero, Witness
from fairfl.claims.evidence import Evidence
from fairfl.claims.registry import order, registered
from fairfl.claims.verdicts import Settled, settle

STATEMENT = Call.of(below)
SYMBOLIC = SymbolicZero(STATEMENT)
CERTIFIED = Witness.at(STATEMENT, "", x=1)
PROPERTY = PropertyRun(STATEMENT, 0.0, {}, Call.of(wide), 1, 1, 0, 0)
AGAINST = Counterexample.at(STATEMENT, "", x=3)


@pytest.mark.parametrize(
    ("evidence", "finding", "level"),
    [
        (Evidence.of(SYMBOLIC), "holds", "symbolic"),
        (Evidence.of(SYMBOLIC, CERTIFIED), "holds", "certified"),
        (Evidence.of(PROPERTY, AGAINST), "refuted", "certified"),
        (Evidence((SYMBOLIC, CERTIFIED), negation=True), "refuted", "certified"),
    ],
)
def test_the_finding_and_level_come_from_the_certificates(evidence, finding, level):
    assert (evidence.finding, evidence.level) == (finding, level)
    assert Evidence.from_json(evidence.to_json()) == evidence


def settled(claims, **findings):
    named = {f"pffl/{name.replace('_', '/')}": value for name, value in findings.items()}
    return {id.removeprefix("pffl/"): s for id, s in settle(claims, named).items()}


def test_a_claim_is_no_stronger_than_what_it_rests_on():
    chain = [claim("c", "b"), claim("b", "a"), claim("a")]
    levels = {"a": "property", "b": "symbolic", "c": "certified"}
    verdicts = settled(chain, **{id: ("holds", level) for id, level in levels.items()})
    assert {(s.verdict, s.level) for s in verdicts.values()} == {("holds", "property")}


@pytest.mark.parametrize(("below", "verdict"), [(("refuted", "certified"), "open"), (None, None)])
def test_what_rests_on_something_that_does_not_hold_is_open_and_its_refutation_stands(
    below, verdict
):
    pair, refuted = [claim("a"), claim("b", "a")], ("refuted", "certified")
    assert settled(pair, a=below, b=("holds", "symbolic"))["b"].verdict == verdict
    assert settled(pair, a=below, b=refuted)["b"] == Settled(*refuted)


def test_a_refuted_claim_with_a_repaired_form_holds_repaired_at_the_weaker_level():
    pair = [claim("a", expected="holds-repaired"), claim("a/repaired")]
    refuted, repair = ("refuted", "certified"), ("holds", "property")
    both = settled(pair, a=refuted, a_repaired=repair)
    assert both["a"] == Settled("holds-repaired", "property", "", "certified", "property")
    assert both["a"].levels == "certified (repair: property)"
    assert both["a/repaired"].levels == "property"
    assert settled(pair, a=refuted, a_repaired=refuted)["a"].verdict == "refuted"
    assert settled(pair, a=refuted, a_repaired=None)["a"].verdict is None
    alone = settled(pair, a=("holds", "certified"), a_repaired=repair)
    assert alone["a"] == Settled("holds", "certified")


def test_the_order_has_every_claim_after_what_it_rests_on():
    assert order([claim("c", "b"), claim("b", "a"), claim("a")]) == ["pffl/a", "pffl/b", "pffl/c"]


@pytest.mark.parametrize(
    ("id", "number"),
    [
        ("lemma-7", "Lemma 7"),
        ("lemma-7/gaps", "Lemma 7"),
        ("eq-A.18", "Eq. (A.18)"),
        ("theorem-A.1-unequal", "Theorem A.1"),
        ("lemma-12-zero", "Lemma 12"),
    ],
)
def test_an_id_says_where_its_paper_has_it(id, number):
    assert replace(claim(id), number="").number == number


def test_the_level_tells_of_a_fixed_size():
    small = replace(claim("a", expected="holds-repaired"), size="n = 3")
    both = [small, replace(claim("a/repaired"), size="n = 2")]
    verdicts = settled(both, a=("refuted", "certified"), a_repaired=("holds", "symbolic"))
    assert verdicts["a"].levels == "certified (repair: symbolic for n = 2)"
    assert verdicts["a/repaired"].levels == "symbolic for n = 2"
    alone = settled([replace(small, expected="refuted")], a=("refuted", "certified"))
    assert alone["a"].levels == "certified"


def test_a_scope_of_a_fixed_size_is_part_of_the_level():
    fixed = re.compile(r"\b[nmI] = [1-9]|\bthree (clients|devices|users|terms)")
    for id, entry in registered().items():
        claim = entry.claim
        if claim.expected == "holds" and claim.kind not in ("existence", "figure"):
            assert claim.size or not fixed.search(claim.scope), id
