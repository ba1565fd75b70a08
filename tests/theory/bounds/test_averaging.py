"""Theorem A.1 on quadratics and sinusoids, whose every constant and expectation has a closed
form.
"""

import doctest
from math import e, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory import bounds
from fairfl.theory.bounds import fedavg_convergence, fedavg_step_limit

BASE = {
    "gap": 1.0,
    "rounds": 10,
    "eta": 0.01,
    "L": 1.0,
    "steps": [2, 3],
    "local": 0.5,
    "between": 0.25,
}


@st.composite
def federations(draw, curvatures=(-1.0, -0.5, 0.25, 1.0)):
    """f_i = (h/2)(theta - c_i)^2: L = |h|, sigma_g = |h| max |c_i - c_j|, and gradients with noise
    and error.
    """
    n = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return {
        "h": draw(st.sampled_from(curvatures)),
        "c": rng.normal(size=n) * draw(st.sampled_from([0.0, 0.3, 3.0])),
        "steps": rng.integers(1, draw(st.sampled_from([2, 4, 9])), n),
        "shares": rng.dirichlet(np.full(n, 2.0)) * 0.9 + 0.1 / n,
        "noise": np.where(rng.random(n) < 0.5, 0.0, rng.exponential(size=n)),
        "bias": np.zeros(n),
        "theta": rng.normal() * draw(st.sampled_from([0.0, 1.0, 5.0])),
    }


def constants(fed):
    h, c = abs(fed["h"]), fed["c"]
    return {
        "L": h,
        "steps": fed["steps"],
        "shares": fed["shares"] / fed["shares"].sum(),
        "local": np.hypot(fed["noise"], fed["bias"]),
        "between": h * (c.max() - c.min()),
    }


def one_round(fed, eta, mean, variance, clients=None):
    """Mean and variance of theta' exactly: every client's recursion is affine, and noises are
    independent.
    """
    clients = range(len(fed["c"])) if clients is None else clients
    p = fed["shares"][clients] / fed["shares"][clients].sum()
    r, new, kept, noise = 1 - eta * fed["h"], 0.0, 0.0, 0.0
    for share, i in zip(p, clients, strict=True):
        local, own = mean, 0.0
        for _ in range(fed["steps"][i]):
            local -= eta * (fed["h"] * (local - fed["c"][i]) + fed["bias"][i])
            own = r**2 * own + (eta * fed["noise"][i]) ** 2
        new += share * local
        kept += share * r ** fed["steps"][i]
        noise += share**2 * own
    return new, kept**2 * variance + noise


def check_descent(fed, told, eta, clients=None):
    """(A.40): E F(theta') <= F(theta) - eta (11 mu - 9)/12 ||grad F||^2 + Psi, with F up to a
    constant.
    """
    centre, h, theta = fed["c"].mean(), fed["h"], fed["theta"]
    mean, variance = one_round(fed, eta, theta, 0.0, clients)
    after, before = h / 2 * ((mean - centre) ** 2 + variance), h / 2 * (theta - centre) ** 2
    allowed = before - eta * (11 * told.mu - 9) / 12 * (h * (theta - centre)) ** 2 + told.psi
    assert after <= allowed + 1e-12 * (1 + abs(before))


@given(fed=federations(), part=st.sampled_from([0.01, 0.3, 1.0]))
def test_a_round_with_all_clients_descends_as_told(fed, part):
    made = constants(fed)
    eta = part * fedavg_step_limit(made["L"], made["steps"], made["shares"])
    for variant in ("printed", "repaired"):  # full participation: both hold, and agree
        told = fedavg_convergence(gap=1.0, rounds=1, eta=eta, variant=variant, **made)
        check_descent(fed, told, eta)


@given(fed=federations(), part=st.sampled_from([0.01, 0.3, 1.0]), data=st.data())
def test_a_round_with_some_clients_descends_as_the_repair_tells(fed, part, data):
    made = constants(fed)
    eta = part * fedavg_step_limit(made["L"], made["steps"], participation="partial")
    told = fedavg_convergence(gap=1.0, rounds=1, eta=eta, participation="partial", **made)
    some = data.draw(st.sets(st.integers(0, len(fed["c"]) - 1), min_size=1))
    check_descent(fed, told, eta, sorted(some))


@given(fed=federations(), part=st.sampled_from([0.01, 0.3, 1.0]), data=st.data())
def test_a_round_with_biased_gradients_descends_as_told(fed, part, data):
    fed["bias"] = np.array(
        data.draw(st.lists(st.sampled_from([-2.0, -0.5, 0.0, 2.0]), min_size=5, max_size=5))
    )
    fed["bias"] = fed["bias"][: len(fed["c"])]
    made = constants(fed)
    eta = part * fedavg_step_limit(made["L"], made["steps"], made["shares"], biased=True)
    told = fedavg_convergence(gap=1.0, rounds=1, eta=eta, biased=True, **made)
    check_descent(fed, told, eta)


@given(fed=federations(curvatures=(0.5, 1.0)), rounds=st.integers(1, 40))
def test_the_bound_over_many_rounds(fed, rounds):
    made, h = constants(fed), fed["h"]
    eta = fedavg_step_limit(made["L"], made["steps"], made["shares"])
    centre = fed["c"].mean()
    gap = h / 2 * (fed["theta"] - centre) ** 2
    told = fedavg_convergence(gap=gap, rounds=rounds, eta=eta, **made)
    mean, variance, squares = fed["theta"], 0.0, []
    for _ in range(rounds):
        squares.append(h**2 * ((mean - centre) ** 2 + variance))
        mean, variance = one_round(fed, eta, mean, variance)
    assert min(squares) <= told.value * (1 + 1e-12)


@given(
    phases=st.lists(st.floats(-3, 3), min_size=1, max_size=4),
    theta=st.floats(-3, 3),
    K=st.integers(1, 4),
)
def test_the_bound_without_convexity(phases, theta, K):
    """f_i = sin(theta + phi_i): L = 1, sigma_g = 2 max sin(|phi_i - phi_j| / 2), F* = -|sum exp(i
    phi)| / n.
    """
    phi = np.array(phases)
    n = len(phi)
    between = 2 * np.abs(np.sin((phi[:, None] - phi) / 2)).max()
    eta = fedavg_step_limit(1.0, np.full(n, K))
    gap = np.sin(theta + phi).mean() + abs(np.exp(1j * phi).mean())
    told = fedavg_convergence(
        gap=gap, rounds=30, eta=eta, L=1.0, steps=np.full(n, K), local=0.0, between=between
    )
    least = np.inf
    for _ in range(30):
        least = min(least, np.cos(theta + phi).mean() ** 2)
        local = np.full(n, theta)
        for _ in range(K):
            local -= eta * np.cos(local + phi)
        theta = local.mean()
    assert least <= told.value + 1e-12


def test_the_formulas_as_printed():
    """(A.3), (A.37) and the theorem's line, written out for two clients."""
    K, s, g, p, eta, L = (2, 3), (0.5, 0.7), 0.25, (0.4, 0.6), 0.01, 1.5
    P = p[0] ** 2 + p[1] ** 2
    first = sum(k**2 * (x**2 + 2 * g**2) for k, x in zip(K, s, strict=True))
    second = sum(k**3 * (x**2 + 6 * k * g**2) for k, x in zip(K, s, strict=True))
    psi = eta / 2 * P * (first + 2 * (e - 2) * eta**2 * L**2 * second)
    limit = min(1 / (6 * L * 3), 1 / L * sqrt(1 / (24 * (e - 2) * P * (2**4 + 3**4))))
    for participation, mu in (("full", 0.4 * 2 + 0.6 * 3), ("partial", 2)):
        told = fedavg_convergence(
            gap=0.3,
            rounds=7,
            eta=eta,
            L=L,
            steps=K,
            local=s,
            between=g,
            shares=p,
            variant="printed",
            participation=participation,
        )
        assert (told.psi, told.mu, told.step_limit) == pytest.approx((psi, mu, limit), rel=1e-13)
        assert told.value == pytest.approx(12 / ((11 * mu - 9) * eta) * (0.3 / 7 + psi), rel=1e-13)
        assert told.value == pytest.approx(told.optimisation + told.noise, rel=1e-15)
    full = fedavg_convergence(
        gap=0.3, rounds=7, eta=eta, L=L, steps=K, local=s, between=g, shares=p
    )
    assert full.psi == pytest.approx(psi, rel=1e-13)


def test_the_repairs_written_out():
    K, s, g, p, eta, L = (2, 3), (0.5, 0.7), 0.25, (0.4, 0.6), 0.01, 1.5
    common = {
        "gap": 0.3,
        "rounds": 7,
        "eta": eta,
        "L": L,
        "steps": K,
        "local": s,
        "between": g,
        "shares": p,
    }
    drift = 2 * (e - 2) * eta**2 * L**2
    partial = fedavg_convergence(participation="partial", **common)
    worst = 9 * (0.49 + 2 * g**2) + drift * 27 * (0.49 + 18 * g**2)  # client 2 has the most in each
    assert partial.psi == pytest.approx(eta / 2 * worst, rel=1e-13)
    assert partial.step_limit == pytest.approx(
        min(1 / (18 * L), 1 / (L * 9 * sqrt(24 * (e - 2)))), rel=1e-13
    )
    biased = fedavg_convergence(biased=True, **common)
    first = sum(k**2 * (x**2 + g**2) for k, x in zip(K, s, strict=True))
    second = sum(k**4 * (x**2 + g**2) for k, x in zip(K, s, strict=True))
    assert biased.psi == pytest.approx(1.5 * eta * 0.52 * (first + 4 * drift * second), rel=1e-13)
    assert biased.step_limit == pytest.approx(
        min(1 / (18 * L), 1 / (L * sqrt(48 * (e - 2) * 0.52 * 97))), rel=1e-13
    )


def test_the_limit_itself_is_allowed():
    limit = fedavg_step_limit(1.0, [2, 3])
    assert fedavg_convergence(**(BASE | {"eta": limit})).step_limit == limit


def test_the_example_of_the_docstring():
    assert doctest.testmod(bounds) == doctest.TestResults(failed=0, attempted=4)
