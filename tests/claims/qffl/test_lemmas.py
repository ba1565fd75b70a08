"""Entropies' derivatives in lemmas 8, 9, and probabilities of lemma 10, theorem 11, another way."""

from fractions import Fraction
from math import sqrt

import pytest
from mpmath import diff, findroot, log, mp, mpf

from fairfl.claims.qffl import generalization as g
from fairfl.claims.qffl import lemma_8


def curve(a, b, c):
    """p -> losses at w_p*, from F' alone: sum F^p F' = 0."""

    def losses(w):
        return [mpf(x) + mpf(y) * w + mpf(z) * w * w / 2 for x, y, z in zip(a, b, c, strict=True)]

    def at(p):
        def stationary(w):
            slopes = [mpf(y) + mpf(z) * w for y, z in zip(b, c, strict=True)]
            return sum(f**p * d for f, d in zip(losses(w), slopes, strict=True))

        return losses(findroot(stationary, mpf(0)))

    return at


def entropy(losses, power):
    shares = [f**power for f in losses]
    total = sum(shares)
    return -sum(s / total * log(s / total) for s in shares)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


@pytest.mark.parametrize("power", [1, 2, 5])
def test_slope_of_lemma_8_is_the_derivative_along_the_optima(power):
    a, b, c = (1, 2, 4), (0.5, -0.75, 0.25), (1, 1, 1)
    at = curve(a, b, c)
    losses = [[Fraction(v) for v in x] for x in (a, b, c)]
    slope = float(lemma_8.slope(*losses, Fraction(1), Fraction(power)).mid())
    assert slope == pytest.approx(float(diff(lambda p: entropy(at(p), power), 1)), rel=1e-9)


def test_the_counterexample_of_lemma_9_along_its_optima():
    """(b) at sampled t, r, u, v, all powers s >= 1 sampled; (a) fails at q = 1/4, p = 0."""
    at = curve((1, 2, 4), (0, -5, 1), (100, 100, 100))
    assert diff(lambda p: entropy(at(p), mpf(1) / 4), 0) < 0
    for p in (0, 0.5, 2, 8):
        for power in (1, 1.5, 4):
            assert diff(lambda x, s=power: entropy(at(x), s), p) > 0

    def ratio(t, r, u):
        f = at(u)
        means = [(sum(x ** (q + 1) for x in f) / 3) ** (mpf(1) / (q + 1)) for q in (t, r)]
        return means[0] / means[1]

    for t, r in ((0, 0.1), (0, 1), (1, 5)):
        values = [ratio(t, r, u) for u in (0, 0.2, 1, 3, 10)]
        assert values == sorted(values)


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
