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


@pytest.mark.parametrize("kind", ["printed", "repaired", "some clients", "biased gradients"])
@given(fed=federations(), part=st.sampled_from([0.01, 0.3, 1.0]), data=st.data())
def test_a_round_descends_as_told(kind, fed, part, data):
    n, clients, asked = len(fed["c"]), None, {"variant": "repaired"}
    if kind == "some clients":
        clients = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
        asked["participation"] = "partial"
    elif kind == "printed":
        asked["variant"] = kind
    elif kind == "biased gradients":
        bias = st.lists(st.sampled_from([-2.0, -0.5, 0.0, 2.0]), min_size=n, max_size=n)
        fed["bias"], asked["biased"] = np.array(data.draw(bias)), True
    made = constants(fed)
    eta = part * fedavg_step_limit(made["L"], made["steps"], made["shares"], **asked)
    told = fedavg_convergence(gap=1.0, rounds=1, eta=eta, **asked, **made)
    check_descent(fed, told, eta, clients)


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


def test_the_formulas_written_out():
    """(A.3), (A.37) and the theorem's line for two clients, as printed and as repaired."""
    K, s, g, p, eta, L = (2, 3), (0.5, 0.7), 0.25, (0.4, 0.6), 0.01, 1.5
    P, drift = p[0] ** 2 + p[1] ** 2, (e - 2) * eta**2 * L**2
    first = [k**2 * (x**2 + 2 * g**2) for k, x in zip(K, s, strict=True)]
    second = [k**3 * (x**2 + 6 * k * g**2) for k, x in zip(K, s, strict=True)]
    printed = eta / 2 * P * (sum(first) + 2 * drift * sum(second))
    worst = eta / 2 * (first[1] + 2 * drift * second[1])  # client 2 has the most in each
    both = [k**m * (x**2 + g**2) for m in (2, 4) for k, x in zip(K, s, strict=True)]
    biased = 1.5 * eta * P * (sum(both[:2]) + 8 * drift * sum(both[2:]))
    for asked, psi, fourth, mu in (
        ({"variant": "printed"}, printed, 24 * P * 97, 2.6),
        ({"variant": "printed", "participation": "partial"}, printed, 24 * P * 97, 2),
        ({}, printed, 24 * P * 97, 2.6),
        ({"participation": "partial"}, worst, 24 * 81, 2),
        ({"biased": True}, biased, 48 * P * 97, 2.6),
    ):
        limit = min(1 / (6 * L * 3), 1 / (L * sqrt((e - 2) * fourth)))
        common = {
            "gap": 0.3,
            "rounds": 7,
            "L": L,
            "steps": K,
            "local": s,
            "between": g,
            "shares": p,
        }
        told = fedavg_convergence(eta=eta, **common, **asked)
        fedavg_convergence(eta=told.step_limit, **common, **asked)  # the limit itself is allowed
        assert (told.psi, told.mu, told.step_limit) == pytest.approx((psi, mu, limit), rel=1e-13)
        assert told.value == pytest.approx(12 / ((11 * mu - 9) * eta) * (0.3 / 7 + psi), rel=1e-13)
        assert told.value == pytest.approx(told.optimisation + told.noise, rel=1e-15)


def test_the_example_of_the_docstring():
    assert doctest.testmod(bounds) == doctest.TestResults(failed=0, attempted=4)
