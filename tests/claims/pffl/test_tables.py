"""Variances of points of a cube are at most those of its vertices."""

from itertools import product

import numpy as np

from fairfl.claims.pffl.tables import squares


def test_the_squares_are_those_about_the_mean_and_largest_at_a_vertex() -> None:
    largest = max(float(squares(x)) for x in product((0, 1), repeat=3))
    for x in np.random.default_rng(0).random((200, 3)):
        value = float(squares(x.tolist()))
        assert abs(value - 3 * np.var(x)) < 1e-12
        assert value <= largest
