"""One step on quadratics: the bounds of the dynamic-participants paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.bounds import gd_step_bounds, ngd_benefit_cap, ngd_step_bounds, step_bounds

SEEDS = st.integers(0, 2**32 - 1)


def quadratic(seed, mu, L, d=4):
    """f(w) = w'Hw/2 with curvatures between mu and L, both attained; a point w and the gradient
    there.
    """
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    H = turn @ np.diag([mu, L, *rng.uniform(mu, L, d - 2)]) @ turn.T
    w = rng.normal(size=d)
    return H, w, H @ w, turn


@given(seed=SEEDS, mu=st.sampled_from([0.0, 0.3, 1.0]), eta=st.floats(0.01, 3))
def test_a_step_stays_within_its_bounds(seed, mu, eta):
    H, w, g, turn = quadratic(seed, mu, 1.0)

    def gain(s):
        return w @ H @ w / 2 - (w - s) @ H @ (w - s) / 2

    norm = np.linalg.norm(g)
    steps = {
        "gd": eta * g,
        "ngd": eta * g / norm,
        "any": np.random.default_rng(seed).normal(size=4),
    }
    for name, s in steps.items():
        low, high = step_bounds(g, s, 1.0, mu)
        assert low - 1e-12 <= gain(s) <= high + 1e-12
        if name != "any":  # (5)-(6), and the bounds for NGD, are this with their steps
            own = (gd_step_bounds if name == "gd" else ngd_step_bounds)(norm, eta, 1.0, mu)
            assert own == pytest.approx((low, high), rel=1e-12, abs=1e-12)
    for column, side in ((0, 1), (1, 0)):  # along the curvatures mu and L the bounds are attained
        s = eta * turn[:, column]
        assert step_bounds(g, s, 1.0, mu)[side] == pytest.approx(gain(s), abs=1e-12)


@given(seed=SEEDS, eta=st.floats(0.001, 2))
def test_aggregated_steps_of_ngd_are_capped(seed, eta):
    """1-Lipschitz losses ||w - c_k||: no gain or loss above eta; two equal gradients attain it."""
    rng = np.random.default_rng(seed)
    c, w = rng.normal(size=(3, 2)), rng.normal(size=2) * 2
    directions = (w - c) / np.linalg.norm(w - c, axis=1, keepdims=True)
    moved = w - eta * directions.mean(0)
    gains = np.linalg.norm(w - c, axis=1) - np.linalg.norm(moved - c, axis=1)
    assert (np.abs(gains) <= ngd_benefit_cap(eta) + 1e-12).all()
    assert ngd_benefit_cap(eta, variant="printed") == 2 * ngd_benefit_cap(eta) == 2 * eta
    assert ngd_benefit_cap(eta, 3.0) == 3 * eta
