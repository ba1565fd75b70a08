"""Statements are held to numbers at instances, and to the edges of their hypotheses."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from planted_claims import below

from fairfl.claims import edges, instances
from fairfl.claims.call import Call
from fairfl.claims.certificates import PropertyRun, Rejected, SymbolicZero
from fairfl.claims.evidence import Evidence
from fairfl.claims.runner import recorded

HELD = "dynamic/theorem-1/repaired"


@cache
def evidence(id):
    return next(c.outcome.evidence for c in recorded() if c.claim.id == id)


def part(id, kind):
    return next(p for o in evidence(id).parts for p in o.every() if isinstance(p, kind))


def changed(row, **fields):
    return {**deepcopy(row), **fields}


def one_edge(row):
    """The edges of one hypothesis for those of all."""
    return dict.fromkeys(row["outside"], row["outside"]["step size"])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda row: {}, "must have values"),
        (lambda row: changed(row, values=[]), "must have values"),
        (lambda row: changed(row, values=[[row["values"][0][0], "1 <= 2"]]), "not 1 <= 2, at"),
        (lambda row: changed(row, outside={}), "no edge of"),
        (lambda row: changed(row, outside=one_edge(row)), "breaks outside of 'gradients'"),
    ],
)
def test_a_statement_is_held_to_its_row(change, fault, monkeypatch):
    assert instances.unheld(evidence(HELD)) == ""
    call, rows = str(part(HELD, PropertyRun).statement), dict(instances.rows())
    monkeypatch.setattr(instances, "rows", lambda: rows | {call: change(rows[call])})
    assert fault in instances.unheld(evidence(HELD))


def test_a_hypothesis_that_is_not_needed_has_a_reason(monkeypatch):
    (call,) = (c for c in instances.rows() if c.startswith("dynamic.theorem_2:fairer(norm"))
    rows = dict(instances.rows())
    monkeypatch.setattr(instances, "rows", lambda: rows | {call: changed(rows[call], idle={})})
    assert "'defined'" in instances.unheld(evidence("dynamic/theorem-2/repaired"))


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (None, 'edges.json must have "planted:below()": [[{"x": "1/1"}, [[{'),
        ([[{"x": 1}, [[{"x": "1/1000"}, "sign"]], ""]], "'the same', not 'sign'"),
        ([[{"x": 1}, [[{"x": "-1/1000"}, ""]], ""]], "'sign', not 'the same'"),
        ([[{"x": 1}, [[{"x": "1/1000"}, ""]], "of others"]], "other numbers than recorded"),
    ],
)
def test_a_statement_is_held_to_its_edges(row, fault, monkeypatch):
    call, start = Call.of(below), {"x": Fraction(1)}
    edges.hold(call, start, frozenset({"sign"}))
    kept = {"planted:below()": row} if row else {}
    monkeypatch.setattr(edges, "rows", lambda: kept)
    with pytest.raises(Rejected) as raised:
        edges.hold(call, start, frozenset({"sign"}))
    assert fault in str(raised.value)


def test_edges_are_looked_for_beside_each_number():
    points = edges.points(Call.of(below), {"x": "1/1"})
    states = {change["x"]: state for change, state in points}
    step = f"1/{10**30}"
    assert states[f"-{step}"] == states["-1/1"] == "sign"
    assert states["0/1"] == states[step] == ""


def test_algebra_quotes_all_left_sides():
    algebra = part(HELD, SymbolicZero)
    assert instances.unheld(Evidence.of(algebra)) == ""
    assert "not quoted" in instances.unheld(Evidence.of(replace(algebra, numbers="")))


@pytest.mark.parametrize("id", ["dynamic/definition-1", "fedfb/remark-5"])
def test_other_numbers_are_rejected(id):
    (certificate,) = evidence(id).parts
    certificate.verify()
    with pytest.raises(Rejected, match="the numbers are"):
        replace(certificate, numbers=certificate.numbers.replace("1", "2")).verify()
