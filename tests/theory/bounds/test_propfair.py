"""Theorem 3.3 on sinusoidal losses, whose constants and expectations have closed forms; noise of
two-point batches.
"""

import itertools
from math import e, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.bounds import fedavg_convergence, propfair_constants, propfair_convergence

GRID = np.linspace(-np.pi, np.pi, 721)


def sinusoids(M, phi, d):
    """Batch losses l(theta) = (M/4)(1 + sin(theta + phi_i +- d)), a fair coin between the two
    signs.

    All in [0, M/2], L = L_0 = M/4; f_i = (M/4)(1 + cos(d) sin(theta + phi_i)); a batch is off by
    (M/4) sin(d) times a cosine, its gradient by the same times a sine; f_i - f_j has amplitude
    (M/4) cos(d) 2 sin(|phi_i - phi_j|/2).
    """
    apart = M / 2 * np.cos(d) * np.abs(np.sin((phi[:, None] - phi) / 2)).max()
    off = M / 4 * np.sin(d)
    return {
        "M": M,
        "L": M / 4,
        "lipschitz": M / 4,
        "local": off,
        "local_loss": off,
        "between": apart,
        "between_loss": apart,
    }


def loss(M, x, d=0.0):
    return M / 4 * (1 + np.cos(d) * np.sin(x))


def slope(M, x, d=0.0):
    return M / 4 * np.cos(d) * np.cos(x)


@pytest.mark.parametrize("variant", ["printed", "repaired"])
@given(
    M=st.floats(0.5, 20),
    phases=st.lists(st.floats(-3, 3), min_size=2, max_size=3),
    d=st.floats(0, 1.5),
)
def test_the_constants_bound_what_they_say(variant, M, phases, d):
    phi = np.array(phases)
    made = propfair_constants(variant=variant, **sinusoids(M, phi, d))
    x = GRID[:, None] + phi
    composed = slope(M, x, d) / (M - loss(M, x, d))  # gradients of -log(M - f_i)
    steps = np.abs(np.diff(composed, axis=0)).max() / (GRID[1] - GRID[0])
    assert steps <= made.smoothness * (1 + 1e-9)
    assert np.abs(composed[:, :, None] - composed[:, None]).max() <= made.between + 1e-12
    batch = [slope(M, x + s * d) / (M - loss(M, x + s * d)) for s in (1, -1)]
    errors = sum((b - composed) ** 2 for b in batch) / 2
    assert errors.max() <= made.local**2 + 1e-12


def test_the_repaired_constants_are_the_smaller_and_the_printed_ones_as_printed():
    args = {
        "M": 2.0,
        "L": 0.7,
        "lipschitz": 0.4,
        "local": 0.3,
        "between": 0.2,
        "local_loss": 0.1,
        "between_loss": 0.6,
    }
    printed, repaired = (propfair_constants(variant=v, **args) for v in ("printed", "repaired"))
    assert printed.smoothness == pytest.approx(4 / 4 * (1.5 * 2 * 0.7 + 0.16))  # (A.46)
    assert printed.between == pytest.approx(4 / 2 * (1.5 * 0.2 + 0.4 / 2 * 0.6))  # (A.49)
    assert printed.local**2 == pytest.approx(8 / 16 * (9 * 4 * 0.09 + 4 * 0.16 * 0.01))  # (A.52)
    assert repaired.smoothness == pytest.approx(0.7 / 1 + 0.16 / 1)  # L/(M/2) + L_0^2/(M/2)^2: (7)
    assert repaired.between == pytest.approx(0.2 / 1 + 0.4 * 0.6 / 1)
    assert repaired.local**2 == pytest.approx(2 * (0.09 + 0.16 * 0.01))
    assert propfair_constants(**args | {"local": [0.3, 0.1]}).local.shape == (2,)


@given(
    M=st.floats(0.5, 10),
    phases=st.lists(st.floats(-3, 3), min_size=2, max_size=2),
    d=st.sampled_from([0.0, 0.5, 1.5]),
    theta=st.floats(-3, 3),
    steps=st.sampled_from([(1, 1), (1, 2), (2, 2)]),
    part=st.sampled_from([0.05, 1.0]),
)
def test_a_round_descends_as_told(M, phases, d, theta, steps, part):
    """E pi(theta') over all outcomes of the batches, at the largest step size allowed."""
    phi = np.array(phases)
    args = sinusoids(M, phi, d) | {"gap": 1.0, "rounds": 1, "steps": steps}
    eta = part * propfair_convergence(eta=1e-12, **args).step_limit
    told = propfair_convergence(eta=eta, **args)
    outcomes = []
    for signs in itertools.product((1, -1), repeat=sum(steps)):
        draw, ends = iter(signs), []
        for i, K in enumerate(steps):
            local = theta
            for _ in range(K):
                x = local + phi[i] + next(draw) * d
                local -= eta * slope(M, x) / (M - loss(M, x))
            ends.append(local)
        outcomes.append(np.mean(ends))

    def pi(t):
        return -np.log(M - loss(M, np.asarray(t)[..., None] + phi, d)).mean(-1)

    gradient = np.mean(slope(M, theta + phi, d) / (M - loss(M, theta + phi, d)))
    allowed = pi(theta) - eta * (11 * told.mu - 9) / 12 * gradient**2 + told.psi
    assert pi(outcomes).mean() <= allowed + 1e-12


def test_batch_gradients_are_biased():
    """Why theorem A.1 does not apply to batches: the mean of the ratio is not the ratio of the
    means.
    """
    M, d, x = 2.0, 1.0, 0.3
    batches = np.mean([slope(M, x + s * d) / (M - loss(M, x + s * d)) for s in (1, -1)])
    assert abs(batches - slope(M, x, d) / (M - loss(M, x, d))) > 0.01


BASE = {"gap": 1.0, "rounds": 5, "eta": 1e-3, "M": 2.0, "L": 0.7, "lipschitz": 0.4, "steps": [2, 3]}
NOISE = {"local": 0.3, "between": 0.2, "local_loss": 0.1, "between_loss": 0.6}


def test_the_repaired_bound_is_theorem_a1_with_the_constants_of_the_composed_losses():
    made = propfair_constants(M=2.0, L=0.7, lipschitz=0.4, **NOISE)
    a1 = {key: BASE[key] for key in ("gap", "rounds", "eta", "steps")}
    a1 |= {"L": made.smoothness, "local": made.local, "between": made.between}
    assert propfair_convergence(**BASE, **NOISE) == fedavg_convergence(**a1, biased=True)
    clean = NOISE | {"local": 0.0, "local_loss": 0.0}
    assert propfair_convergence(**BASE, **clean) == fedavg_convergence(**a1 | {"local": 0.0})


def test_the_printed_bound_as_printed():
    """(8) and Psi~ with L where the proof needs L~."""
    Lt, st_ = 1.5 * 2 * 0.7 + 0.16, sqrt(8 / 16 * (36 * 0.09 + 0.64 * 0.01))
    sg = 2 * (0.3 + 0.2 * 0.6)
    K, eta, L = (2, 3), 1e-3, 0.7
    told = propfair_convergence(variant="printed", participation="partial", **BASE, **NOISE)
    limit = min(1 / (6 * Lt * 3), 1 / L * sqrt(1 / (24 * (e - 2) * 0.5 * 97)))
    first = sum(k**2 * (st_**2 + 2 * sg**2) for k in K)
    second = sum(k**3 * (st_**2 + 6 * k * sg**2) for k in K)
    psi = eta / 2 * 0.5 * (first + 2 * (e - 2) * eta**2 * L**2 * second)
    assert (told.step_limit, told.psi, told.mu) == pytest.approx((limit, psi, 2), rel=1e-12)
