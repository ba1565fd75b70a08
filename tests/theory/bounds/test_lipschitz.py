"""Lemma 12 against Hessians of quadratics, and what follows for step sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.bounds import qffl_lipschitz, qffl_sublevel_lipschitz

POWERS = st.sampled_from([0.0, 0.2, 0.5, 1.0, 2.0, 5.5])


@given(seed=st.integers(0, 2**32 - 1), q=POWERS, floor=st.sampled_from([0.0, 1e-6, 0.5]))
def test_it_bounds_the_hessian(seed, q, floor):
    """f = w'Hw/2 + floor in three dimensions: the Hessian is q f^(q-1) g g' + f^q H."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    H, w = root @ root.T, rng.normal(size=3)
    L, f, g = np.linalg.eigvalsh(H)[-1], w @ H @ w / 2 + floor, H @ w
    exact = np.linalg.norm(q * f ** (q - 1) * np.outer(g, g) + f**q * H, 2)
    bound = qffl_lipschitz(f, np.linalg.norm(g), L, q)
    assert exact <= bound * (1 + 1e-12)
    assert bound <= qffl_sublevel_lipschitz(f, L, q) * (1 + 1e-12)


@given(w=st.floats(0.1, 3), L=st.floats(0.1, 5), q=POWERS, floor=st.sampled_from([0.0, 0.5]))
def test_it_is_attained_in_one_dimension(w, L, q, floor):
    f, h = L * w**2 / 2 + floor, 1e-4

    def power(x):
        return (L * x**2 / 2 + floor) ** (q + 1) / (q + 1)

    second = (power(w + h) - 2 * power(w) + power(w - h)) / h**2
    assert qffl_lipschitz(f, L * w, L, q) == pytest.approx(second, rel=1e-4)
    # ||grad f||^2 = 2 L f: then the constant of the sublevel set is attained as well
    if floor == 0:
        assert qffl_sublevel_lipschitz(f, L, q) == pytest.approx(
            qffl_lipschitz(f, L * w, L, q), rel=1e-12
        )


@given(seed=st.integers(0, 2**32 - 1), q=POWERS)
def test_constant_steps_descend_for_many_clients(seed, q):
    """Gradient descent on the mean of f_k^(q+1), f_k = ||w - c_k||^2 / 2, with the step of the
    sublevel set.
    """
    rng = np.random.default_rng(seed)
    c = rng.normal(size=(4, 2))
    w, last = rng.normal(size=2) * 3, np.inf
    worst = ((w - c) ** 2).sum(1) / 2
    # no f_k exceeds it while the mean of the powers does not rise
    level = (worst ** (q + 1)).sum() ** (1 / (q + 1))
    bound = qffl_sublevel_lipschitz(level, 1.0, q)
    for _ in range(20):
        f = ((w - c) ** 2).sum(1) / 2
        value = (f ** (q + 1)).mean() / (q + 1)
        assert value <= last * (1 + 1e-12)
        last = value
        w = w - (f ** q[..., None] if np.ndim(q) else f**q) @ (w - c) / 4 / bound


def test_zero_losses_and_shapes():
    assert qffl_lipschitz(0.0, 0.0, 3.0, 0.0) == 3.0
    assert qffl_lipschitz(0.0, 0.0, 3.0, 0.5) == 0.0
    assert qffl_lipschitz([[0.0, 1.0], [2.0, 1.0]], [0.0, 1.0], 3.0, 1.0).tolist() == [
        [0.0, 4.0],
        [6.0, 4.0],
    ]
    assert qffl_sublevel_lipschitz([0.0, 2.0], 1.0, 1.0).tolist() == [0.0, 6.0]
