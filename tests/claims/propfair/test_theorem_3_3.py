"""The printed constant of theorem 3.3, and a step of the crowd that refutes it."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fairfl.claims.exact import ball
from fairfl.claims.propfair import theorem_3_3
from fairfl.theory.bounds import propfair_constants


def test_printed_smoothness_is_the_one_in_theory():
    told = propfair_constants(
        M=3.0,
        L=2.0,
        lipschitz=0.5,
        local=1.0,
        between=0.0,
        local_loss=1.0,
        between_loss=0.0,
        variant="printed",
    )
    assert float(theorem_3_3.smoothness(Fraction(3), Fraction(2), Fraction(1, 2))) == pytest.approx(
        told.smoothness
    )


def test_a_step_of_the_crowd_is_what_four_samples_make_it():
    """after_a_step at points against the formula in floats."""
    for theta in (0.3, 2.0, 4.5):
        total = 0.0
        for sign, shape in product((-1, 1), ("cos", "sin")):
            c, s = np.cos(theta), np.sin(theta)
            batch = 1 + c / 2 + sign * (c if shape == "cos" else s) / 2
            moved = theta - 0.2 * (-s / 2 + sign * (-s if shape == "cos" else c) / 2) / (4 - batch)
            total += (np.sin(moved) / 2 / (3 - np.cos(moved) / 2)) ** 2 / 4
        found = theorem_3_3.after_a_step(ball(Fraction(theta)), Fraction(1, 5))
        assert float(found.mid()) == pytest.approx(total, rel=1e-12)
