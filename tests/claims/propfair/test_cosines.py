"""Losses that are waves: their constants, and the bounds of theorem 3.3 against theory's."""

from itertools import product

import numpy as np
import pytest

from fairfl.claims.propfair import cosines
from fairfl.claims.propfair.theorem_3_3 import smoothness
from fairfl.theory.bounds import propfair_convergence

WORLD = {
    "clients": [[0.5, 0.3, 0.25, 1.0], [0.2, 2.0, 0.5, 0.1]],
    "M": 4.0,
    "steps": [1, 2],
    "sizes": [1, 3],
}


def test_waves_keep_within_their_constants():
    """Suprema over theta, on a grid: no larger than claimed, and close to it."""
    loss, slope = cosines.waves(WORLD)
    made = cosines.constants(WORLD)
    grid = np.linspace(0, 2 * np.pi, 20_001)
    top = max(np.abs(slope(i, 0, grid)).max() for i in range(2))
    between = np.abs(slope(0, 0, grid) - slope(1, 0, grid)).max()
    local = [np.abs(slope(i, 1, grid) - slope(i, 0, grid)).max() for i in range(2)]
    values = [np.abs(loss(i, 1, grid) - loss(i, 0, grid)).max() for i in range(2)]
    assert [top, between, *local, *values] == pytest.approx(
        [made["L"], made["between"], *made["local"], *made["local"]], rel=1e-6
    )


@pytest.mark.parametrize("participation", ["full", "partial"])
def test_the_bound_with_the_smaller_constants_is_the_one_in_theory(participation):
    law = [[[0], 0.5], [[1], 0.5]] if participation == "partial" else None
    world = {**WORLD, "T": 5, "law": law}
    made = cosines.constants(world)
    eta = cosines.limit(world)
    told = propfair_convergence(
        gap=0.2,
        rounds=5,
        eta=eta,
        M=4.0,
        L=made["L"],
        lipschitz=made["L0"],
        steps=[1, 2],
        shares=[0.25, 0.75],
        local=made["local"],
        between=made["between"],
        local_loss=made["local"],
        between_loss=made["between"],
        participation=participation,
    )
    assert cosines.repaired_bound(world, eta, 0.2) == pytest.approx(told.value, rel=1e-12)
    assert eta == pytest.approx(told.step_limit, rel=1e-12)
    assert cosines.limit(world, 3.0) == pytest.approx(1 / (12 * smoothness(4.0, 0.5, 0.5)))


def test_slopes_are_those_of_the_losses():
    loss, slope = cosines.waves(WORLD)
    for i, sign, at in product((0, 1), (-1, 0, 1), (0.3, 2.0, 4.5)):
        rise = (loss(i, sign, at + 1e-5) - loss(i, sign, at - 1e-5)) / 2e-5
        assert slope(i, sign, at) == pytest.approx(rise, abs=1e-9)


def test_without_noise_a_run_is_what_is_expected():
    """Client 1 makes two steps, and has three quarters of the weight."""
    clients = [[a, u, 0.0, 0.0] for a, u, *_ in WORLD["clients"]]
    world = {**WORLD, "clients": clients, "theta": 1.2, "T": 3, "law": None}
    loss, slope = cosines.waves(world)
    at, eta, seen = 1.2, 0.7, []
    for _ in range(3):
        seen.append(sum(slope(i, 0, at) / (4 - loss(i, 0, at)) for i in (0, 1)) ** 2 / 4)
        ends = [at, at]
        for i, steps in enumerate(world["steps"]):
            for _ in range(steps):
                ends[i] -= eta * slope(i, 0, ends[i]) / (4 - loss(i, 0, ends[i]))
        at = ends[0] / 4 + 3 * ends[1] / 4
    assert cosines.expected(world, eta) == pytest.approx(seen, rel=1e-12)


def test_the_printed_bound_is_the_one_in_theory_where_steps_are_short():
    """There its second sum, which is left out here, is nothing."""
    world = {**WORLD, "T": 5, "law": None}
    made = cosines.constants(world)
    told = propfair_convergence(
        gap=0.2,
        rounds=5,
        eta=1e-9,
        M=4.0,
        L=made["L"],
        lipschitz=made["L0"],
        steps=[1, 2],
        shares=[0.25, 0.75],
        local=made["local"],
        between=made["between"],
        local_loss=made["local"],
        between_loss=made["between"],
        variant="printed",
    )
    assert cosines.repaired_bound(world, 1e-9, 0.2, c=3.0) == pytest.approx(told.value, rel=1e-12)
