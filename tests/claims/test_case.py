"""Relations between exact numbers, balls and floats; cases; numbers through JSON."""

import json
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.exact import ball, decode, encode

WIDE = arb(1, 0.5)


@pytest.mark.parametrize(
    ("left", "operator", "right", "holds", "fails", "exact"),
    [
        (1, "<=", 1, True, False, True),
        (Fraction(1, 3), "<", fmpq(1, 3), False, True, True),
        (Fraction(1, 3), "==", fmpq(1, 3), True, False, True),
        (sympy.sqrt(2), "<", Fraction(3, 2), True, False, True),
        (sympy.Rational(1, 3), "!=", Fraction(1, 3), False, True, True),
        (WIDE, "<=", 2, True, False, True),
        (WIDE, "<=", Fraction(1, 4), False, True, True),
        (WIDE, "<=", 1, False, False, True),  # undecided
        (WIDE, "==", 1, False, False, True),
        (WIDE, "==", Fraction(5, 2), False, True, True),
        (WIDE, "!=", Fraction(5, 2), True, False, True),
        (0.1, "<", Fraction(1, 10), False, True, False),  # the double next to 1/10 is larger
        (np.float64(1.0), "==", 1, True, False, False),
        (sympy.Float("0.5"), "==", Fraction(1, 2), True, False, False),
    ],
)
def test_relations_are_certain_or_undecided(left, operator, right, holds, fails, exact):
    relation = Relation(left, operator, right)
    assert (relation.holds(), relation.fails(), relation.exact) == (holds, fails, exact)


@given(st.fractions(), st.fractions(), st.sampled_from(["<", "<=", "==", "!="]))
def test_exact_relations_are_decided_and_the_margin_has_their_sign(a, b, operator):
    relation = Relation(a, operator, b)
    assert relation.holds() != relation.fails()
    if relation.holds():
        assert relation.margin >= 0
    elif operator != "<" and operator != "!=":
        assert relation.margin < 0 or float(a) == float(b)


@pytest.mark.parametrize("number", [Fraction(1, 3), 0.1, 7])
def test_a_strict_relation_of_equal_numbers_is_violated_without_a_tolerance(number):
    assert Relation(number, "<", number).margin < 0 and Relation(number, "!=", number).margin < 0
    assert Relation(number, "<=", number).margin == 0 == Relation(number, "==", number).margin


def test_the_worst_relation_decides_and_nan_is_worst():
    far = Relation(0, "<=", 5)
    case = Case((far, Relation(0, "<=", 1), Relation(0, "<=", 3, scale=10.0)), {"p": True})
    assert (case.worst.margin, case.applies, case.broken) == (0.3, True, None)
    assert Case((far, Relation(0.0, "<=", float("nan"), "lost"))).worst.name == "lost"
    assert not Case((far,), {"p": True, "q": False}).applies
    broken = Case((far, Relation(2, "<", 1, "this"))).broken
    assert broken is not None and str(broken) == "this: 2 < 1"


NUMBERS = st.integers() | st.fractions() | st.floats(allow_nan=False) | st.booleans()
DATA = st.recursive(
    NUMBERS | st.sampled_from("abc"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
)


@given(DATA)
def test_instances_survive_json(data):
    again = decode(json.loads(json.dumps(encode(data))))
    assert again == data
    assert type(again) is type(data)


def test_arrays_become_lists():
    arrays = {"x": np.array([[0.5, 1.0]]), "n": np.int64(3), "t": (1, 2)}
    assert encode(arrays) == {"x": [[0.5, 1.0]], "n": 3, "t": [1, 2]}


def test_balls_are_built_from_the_number_and_not_from_its_double():
    assert ball("0.1") * 10 - 1 < arb("1e-15") and not ball("0.1") * 10 < 1
    assert ball(Fraction(1, 10)).contains(fmpq(1, 10))
    assert not ball(0.1).contains(fmpq(1, 10))  # the double is another number


def test_a_call_is_found_again_by_its_name():
    call = Call.of(ball, value=Fraction(1, 2))
    assert Call.from_json(json.loads(json.dumps(call.to_json()))) == call
    assert call() == arb(0.5)
