"""The printed constant of theorem 3.3, a step of the crowd that refutes it, and the sawtooth: a run
of its steps, against what the claim says of them.
"""

from bisect import bisect_right
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fairfl.claims.exact import ball
from fairfl.claims.propfair import theorem_3_3
from fairfl.claims.propfair.rounds import front


def test_printed_smoothness_by_hand():
    """(A.46): 4/M^2 (3/2 M L + L_0^2)."""
    assert theorem_3_3.smoothness(Fraction(3), Fraction(2), Fraction(1, 2)) == Fraction(37, 9)


def test_a_step_of_the_crowd_is_what_four_samples_make_it():
    """after_a_step at points against the formula in floats."""
    for theta in (0.3, 2.0, 4.5):
        total = 0.0
        for sign, shape in product((-1, 1), ("cos", "sin")):
            c, s = np.cos(theta), np.sin(theta)
            batch = 1 + c / 2 + sign * (c if shape == "cos" else s) / 2
            moved = theta - 0.2 * (-s / 2 + sign * (-s if shape == "cos" else c) / 2) / (4 - batch)
            total += (np.sin(moved) / 2 / (3 - np.cos(moved) / 2)) ** 2 / 4
        interval = theorem_3_3.after_a_step(ball(Fraction(theta)), Fraction(1, 5))
        assert float(interval.mid()) == pytest.approx(total, rel=1e-12)


def test_a_run_along_the_teeth_keeps_what_the_claim_says():
    """pi' piecewise linear, integrated between its kinks; a tooth is as long as K steps."""
    K, M, L, L0, c, G = (float(theorem_3_3.TOOTH[k]) for k in ("K", "M", "L", "L0", "c", "G"))
    eta = 1 / (6 * theorem_3_3.smoothness(M, L, L0) * K)
    x, half = c * eta, int(K) // 2
    low = G / (1 + x) ** half
    # what is walked down: to where |pi'| is low, and back up to G
    first, tooth = (G - low) * (1 + x) / c, (G - low) * (1 + x) / c + (G - low) / c
    kinks = [first, tooth]

    def slope(s):
        s %= tooth
        return (G - c / (1 + x) * s, low + c * (s - first))[bisect_right(kinks, s)]

    at, seen = 0.0, []
    for _ in range(3):
        seen.append(slope(at + 1e-15))
        for _ in range(int(K)):
            at += eta * slope(at)
    assert at == pytest.approx(3 * tooth, rel=1e-9)
    assert seen == pytest.approx([G] * 3, rel=1e-9)
    fall = (G + low) / 2 * tooth  # of pi in a tooth
    end = G**2 / (2 * c / (1 + x))
    bound = front(K, eta) * (fall + end / theorem_3_3.TOOTH["T"])
    (relation,) = theorem_3_3.sawtooth(theorem_3_3.TOOTH).relations
    assert float(relation.left) == pytest.approx(G**2 / bound, rel=1e-9)
