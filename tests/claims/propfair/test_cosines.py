"""Losses that are waves: their constants, and the bounds of theorem 3.3 written out."""

from itertools import product

import numpy as np
import pytest

from fairfl.claims.propfair import cosines

WORLD = {
    "clients": [[0.5, 0.3, 0.25, 1.0], [0.2, 2.0, 0.5, 0.1]],
    "M": 4.0,
    "steps": [1, 2],
    "sizes": [1, 3],
    "T": 5,
}


def test_waves_keep_within_their_constants():
    """Suprema over theta, on a grid: no larger than claimed, and close to it."""
    constants = cosines.constants(WORLD)
    grid = np.linspace(0, 2 * np.pi, 20_001)
    (f, df), (g, dg) = (cosines.batch(WORLD, i, 0, grid) for i in range(2))
    (up, dup), (vp, dvp) = (cosines.batch(WORLD, i, 1, grid) for i in range(2))
    suprema = [
        np.abs(x).max() for x in (np.stack([df, dg]), df - dg, dup - df, dvp - dg, up - f, vp - g)
    ]
    claimed = [constants.L, constants.between, *constants.local, *constants.local]
    assert suprema == pytest.approx(claimed, rel=1e-6)


def test_slopes_are_those_of_the_losses():
    for i, sign, at in product((0, 1), (-1, 0, 1), (0.3, 2.0, 4.5)):
        above, below = (cosines.batch(WORLD, i, sign, at + h)[0] for h in (1e-5, -1e-5))
        slope = cosines.batch(WORLD, i, sign, at)[1]
        assert slope == pytest.approx((above - below) / 2e-5, abs=1e-9)


def test_without_noise_a_run_is_what_is_expected():
    """Client 1 makes two steps, and has three quarters of the weight."""
    clients = [[a, u, 0.0, 0.0] for a, u, *_ in WORLD["clients"]]
    world = {**WORLD, "clients": clients, "theta": 1.2, "T": 3, "law": None}
    at, eta, seen = 1.2, 0.7, []

    def slope(i, at):
        loss, slope = cosines.batch(world, i, 0, at)
        return slope / (4 - loss)

    for _ in range(3):
        seen.append((slope(0, at) + slope(1, at)) ** 2 / 4)
        once = at - eta * slope(1, at)
        at = (at - eta * slope(0, at)) / 4 + 3 * (once - eta * slope(1, once)) / 4
    assert cosines.expected(world, eta) == pytest.approx(seen, rel=1e-12)
