"""The minimiser of smooth functions: known minima, walls of infinity, and no minimum."""

import numpy as np
import pytest
from scipy import optimize

from fairfl.solvers.minimax.quasi_newton import minimise


def test_rosenbrock_to_the_last_digits():
    def function(x):
        return optimize.rosen(x), optimize.rosen_der(x)

    for d in (2, 5, 20):
        minimiser = minimise(function, np.full(d, -0.5), 1e-10)
        assert np.linalg.norm(optimize.rosen_der(minimiser)) <= 1e-10
        assert minimiser == pytest.approx(np.ones(d), abs=1e-9)


def test_a_wall_of_infinity_is_only_a_step_too_long():
    """-log(1 - x) - log(x) + c x on (0, 1), from its edge; the root of its slope is known."""

    def function(x):
        if not 0 < x[0] < 1:
            return np.inf, x
        return -np.log(1 - x[0]) - np.log(x[0]) + 50 * x[0], np.array(
            [1 / (1 - x[0]) - 1 / x[0] + 50]
        )

    root = (52 - np.sqrt(52**2 - 4 * 50)) / 100  # 50 x² - 52 x + 1 = 0, the smaller one
    for start in (1 - 1e-9, 0.5, 1e-9):
        assert minimise(function, np.array([start]), 1e-9) == pytest.approx([root], rel=1e-9)


def test_no_minimum_ends_without_a_point_that_looks_like_one():
    assert np.exp(-minimise(lambda x: (np.exp(-x[0]), -np.exp(-x)), np.zeros(1), 1e-30)) > 0
    last = minimise(lambda x: (float(x.sum()), np.ones(3)), np.zeros(3), 1e-9)
    assert np.isfinite(last).all()
