"""What claims/ refuses: calls, and the words of their errors."""
# ruff: noqa: F401 (the rows call what is imported)

from dataclasses import replace

import numpy as np
import sympy
from bad_input import refused
from hypothesis import strategies as st
from planted_claims import below, claim

import fairfl as ff
from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, from_json
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import encode
from fairfl.claims.lemma import Lemma
from fairfl.claims.registry import order
from fairfl.theory.aggregation import ConvexFunction


def mean(u, factor=1.0):
    return sum(u) / len(u) - factor * min(u)


def own(f):
    return f.mean(-1)


def changed(name="a", **changes):
    return replace(claim(name), **changes)


FLOATS, STATEMENT = st.lists(st.floats(0.1, 9), min_size=1), Call.of(below)
test_claims = refused(
    r"""
changed(id='Eq 3') | id must be paper/name
changed(kind='guess') | kind of pffl/a must be one of
changed(expected='true') | expected of pffl/a must be one of
changed(title=' ') | title of pffl/a must be given
changed('relative', number='') | number of pffl/relative must be given
changed(mutants=()) | mutants must be at least one.*got pffl/a
changed(expected='refuted', erratum='') | erratum must say.*got pffl/a, refuted
changed(erratum='Read 3.') | erratum must say what is wrong where a claim is false, and only
changed(severity='misprint') | severity of pffl/a must be one of None where it holds, got
changed(rests_on=('pffl/a',)) | rests_on must not name the claim itself, got pffl/a
order([claim('a', 'b'), claim('b', 'a')]) | circle, got pffl/a -> pffl/b -> pffl/a
order([claim('a', 'b')]) | rests_on of pffl/a must name claims, got 'pffl/b'
order([claim('a', expected='holds-repaired')]) | pffl/a/repaired is not there
order([claim('a'), claim('a/repaired')]) | expected to be holds, but pffl/a/repaired is there
order([claim('a/repaired')]) | repairs a claim that is not there
Evidence.of() | at least one certificate
Evidence((Counterexample.at(STATEMENT, '', x=3),), negation=True) | negation must be shown
from_json({'type': 'Guess'})
    | type of a certificate must be one of .*SymbolicZero.*got 'Guess'
from_json({'type': 'Witness', 'statement': STATEMENT.to_json(), 'shows': ''})
    | a Witness must have instance
Case(()) | at least one relation
Relation(0, '>', 1) | operator must be one of
Relation(0, '<', 1, scale=0.0) | scale must be positive
encode(sympy.Integer(1)) | an instance must be numbers
encode({1: 2}) | keys of an instance must be strings
Call('os:system').resolve() | function must
Call('fairfl._support.checks:whole').resolve() | function must
Call('fairfl.claims.exact:json.loads').resolve() | function must
Call('fairfl.claims.exact:n').resolve() | function must
Call.of(lambda: 0) | function must
ff.check_lemma(3, FLOATS) | predicate must be a function, got 3
ff.check_lemma(mean, [1, 2]) | strategy must be one of hypothesis, got \[1, 2\]
ff.check_lemma(mean) | strategy must be given with a predicate that is no lemma, got None
ff.check_lemma(Lemma(mean, FLOATS, 'own/mean'), FLOATS)
    | strategy, where and mutants of a lemma are its
ff.check_lemma(mean, st.just(1), where={'never': lambda x: False})
    | strategy must draw instances that satisfy the hypoth
ff.check_lemma(mean, FLOATS, mutants={'m': {'faktor': 2}})
    | must change parameters of u, factor, got faktor
ff.check_lemma(mean, FLOATS, mutants={'m': {}}) | must change parameters of u, factor, got none
ff.check_objective(3) | objective must be an aggregation objective, got 3
ConvexFunction(3, np.sum) | function must be a function, got 3
ConvexFunction(np.sum) | slope must be a function, got None
ConvexFunction(own, own).dual_weights([1.0, 2.0])
    | slope must give finite numbers of shape \(1, 2\)
ConvexFunction(np.sum, np.sum, lower=2, upper=1) | lower must be below
""",
    globals(),
)
