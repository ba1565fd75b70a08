"""Enumerated probabilities of lemma 10 and theorem 11 against closed forms."""

from fractions import Fraction
from math import log, sqrt

import numpy as np

from fairfl.claims.qffl import generalization as g


def test_all_devices_must_hold_in_the_counterexample():
    """h_k breaks the bound iff device k draws a loss of 0: mu > mu (1 - mu) +
    sqrt(log(1/delta)/2).
    """
    mu, delta = 0.8, 0.45
    assert mu > mu * (1 - mu) + sqrt(log(1 / delta) / 2)
    for full in (False, True):
        probability = g.broken(g.WORLD, g.corners(3), Fraction(9, 20), full=full)
        assert probability == 1 - Fraction(4, 5) ** 3
    assert g.broken(g.WORLD, [g.corners(3)[0]], Fraction(9, 20)) == Fraction(1, 5)


def test_probabilities_sum_to_one_and_means_are_expectations():
    world = g.separate(2, "1/3", "1/2") | {"n": [2, 1]}
    samples = g.samples(world)
    assert sum(w for w, _ in samples) == 1
    for h, row in enumerate(g.expected(world)):
        for k, true in enumerate(row):
            assert sum(w * seen[h][k] for w, seen in samples) == true


def test_the_right_sides_written_out():
    """||lambda|| ||F|| + sqrt(sum lambda_k^2 / (2 n_k) log(1/delta)), norms of order 2; theorem 11
    repaired, at the worst mixture.
    """
    mixture = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    world, losses = g.WORLD | {"n": [1, 2, 3]}, [Fraction(1), Fraction(1, 2), Fraction(1, 4)]
    empirical = g.norm(losses, Fraction(2))
    ours = g.norm(mixture, Fraction(2)) * empirical
    ours += g.spread(world, mixture, Fraction(9, 20), Fraction(1))
    size, weights = sqrt(1 + 1 / 4 + 1 / 16), np.array([1 / 2, 1 / 3, 1 / 6])
    spread = sqrt((weights**2 / [2, 4, 6]).sum() * log(1 / 0.45))
    assert abs(float(ours.mid()) - (sqrt(weights @ weights) * size + spread)) < 1e-12
    worst = empirical + g.spread(world, g.corners(3)[0], Fraction(9, 20) / 3, Fraction(1))
    assert abs(float(worst.mid()) - (size + sqrt(log(3 / 0.45) / 2))) < 1e-12
