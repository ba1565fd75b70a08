"""Enumerated probabilities of lemma 10 and theorem 11 against closed forms."""

from fractions import Fraction
from math import log, sqrt

from fairfl.claims.qffl import generalization as g


def test_all_devices_must_hold_in_the_counterexample():
    """h_k breaks the bound iff device k draws a loss of 0: mu > mu (1 - mu) +
    sqrt(log(1/delta)/2).
    """
    mu, delta = 0.8, 0.45
    assert mu > mu * (1 - mu) + sqrt(log(1 / delta) / 2)
    for full in (False, True):
        probability, _ = g.broken(g.WORLD, g.corners(3), Fraction(9, 20), full=full)
        assert probability == 1 - Fraction(4, 5) ** 3
    assert g.broken(g.WORLD, [g.corners(3)[0]], Fraction(9, 20))[0] == Fraction(1, 5)


def test_probabilities_sum_to_one_and_means_are_expectations():
    world = g.separate(2, "1/3", "1/2") | {"n": [2, 1]}
    samples = g.samples(world)
    assert sum(w for w, _ in samples) == 1
    for h, row in enumerate(g.expected(world)):
        for k, true in enumerate(row):
            assert sum(w * seen[h][k] for w, seen in samples) == true
