"""The box programme against HiGHS: ties, redundant and empty rows, twins, thousands of cells."""

from typing import Any

import numpy as np
import pytest
from audit import Finite, random_budgets
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import fairfl as ff
from fairfl.solvers.finite_x.linear_programme import solve_box
from fairfl.solvers.numerics.highs import Programme
from fairfl.solvers.problem import Problem

HIGHS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def whole(u: Any, v: Any, eps: Any) -> float:
    k = np.isfinite(eps)
    rows, limits = np.concatenate([v[k], -v[k]]), np.tile(eps[k], 2)
    return -optimize.linprog(-u, rows, limits, bounds=(0, 1), options=HIGHS).fun


def check(u: Any, v: Any, eps: Any, tolerance: float = 1e-12) -> Any:
    problem = Problem(u, v, np.zeros(len(v)), eps)
    f, multipliers = solve_box(problem)
    dual = problem.dual(multipliers)
    assert ((f >= 0) & (f <= 1)).all()
    assert (np.abs(v @ f) <= eps + tolerance).all()
    assert abs(dual - float(u @ f)) <= tolerance
    # signs of the multipliers, and complementary slackness
    for lam, value, budget in zip(multipliers, v @ f, eps, strict=True):
        if abs(lam) > 1e-9:
            assert value == pytest.approx(-np.sign(lam) * budget, abs=1e-9)
    return f, multipliers, dual


@st.composite
def programmes(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Rows are differences of two laws, as in federations, on few levels, so that ties abound."""
    n, k = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    u = np.array([draw(st.integers(-4, 4)) / 64 for _ in range(2 * n)])
    v = np.zeros((k, 2 * n))
    for row in v:
        for half, sign in ((slice(0, n), 1.0), (slice(n, 2 * n), -1.0)):
            c = np.array([draw(st.integers(0, 3)) for _ in range(n)], dtype=float)
            row[half] = sign * c / max(c.sum(), 1.0)
    eps = np.array([draw(st.sampled_from([0.0, 0.0, 0.03125, 0.1, 0.5, np.inf])) for _ in range(k)])
    kind = draw(st.sampled_from(["plain", "twins", "sum", "zero"]))
    if kind == "twins":
        v, eps = np.concatenate([v, v[:1]]), np.append(eps, eps[0])
    elif kind == "sum" and k > 1:
        v, eps = np.concatenate([v, v[:1] / 2 + v[1:2] / 2]), np.append(eps, eps[0])
    elif kind == "zero":
        v, eps = np.concatenate([v, np.zeros((1, 2 * n))]), np.append(eps, 0.0)
    return u, v, eps


@given(programmes())
def test_small_programmes(programme: tuple[Any, Any, Any]) -> None:
    assert check(*programme)[2] == pytest.approx(whole(*programme), abs=1e-9)


def test_no_constraints() -> None:
    u = np.array([0.5, -0.25, 0.0])
    f, multipliers, dual = check(u, np.ones((1, 3)), np.array([np.inf]))
    assert f.tolist() == [1.0, 0.0, 0.0] and dual == 0.5 and multipliers.tolist() == [0.0]


def test_one_client_whose_rule_is_blind_where_some_x_is_nobodys() -> None:
    rng = np.random.default_rng(0)
    masses = rng.random((1, 2, 12)) * (np.arange(12) != 5)
    eta = np.where(np.arange(12) == 5, 0.5, rng.random(12))
    fed = ff.Federation.finite(np.arange(12), masses / masses.sum(), eta)
    pooled, federated = (ff.solve(fed, scheme, 0.02, sees="x") for scheme in ("cfl", "lft_fedavg"))
    assert pooled.accuracy == pytest.approx(federated.accuracy, abs=1e-14)
    assert pooled.disparity == pytest.approx(0.02, abs=1e-14)
    free = ff.solve(fed, "cfl", 1.0, notion="eodds")  # two constraints, and multipliers of zero
    assert free.classifier(5.0, [0, 1]).tolist() == [0.5, 0.5]


def test_a_blind_rule_where_a_client_has_nobody_goes_by_its_groups_shares() -> None:
    # at x = 1 the first client has nobody: 0.9 · (2 · 0.6 - 1) > 0.1 · (1 - 2 · 0.1) accepts
    masses = [[[0.9, 0.0], [0.1, 0.0]], [[0.45, 0.05], [0.45, 0.05]]]
    fed = ff.Federation.finite([0, 1], masses, [[[0.2, 0.6], [0.2, 0.1]]] * 2)
    s = ff.solve(fed, "lft_ensemble", 1.0, sees="x")
    assert s.classifier([0.0, 1.0], 0).tolist() == [0.0, 0.5]


def test_one_fractional_cell_by_hand() -> None:
    # max f0/2 + f1/4 subject to f0 + f1 <= 3/2: f = (1, 1/2), λ = -1/4, value 1/2 + 1/8
    optimum = check(np.array([0.5, 0.25]), np.array([[1.0, 1.0]]), np.array([1.5]))
    for part, expected in zip(optimum, ([1.0, 0.5], [-0.25], 0.625), strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("seed, levels", [(0, None), (1, 7), (2, None), (3, 50)])
def test_thousands_of_cells(seed: int, levels: int | None) -> None:
    rng = np.random.default_rng(seed)
    n, k = 3500, 3
    eta = rng.random(n)
    if levels:
        eta = np.round(eta * levels) / levels  # ties by the hundred
    law = rng.dirichlet(np.full(n, 0.7), size=(k, 2))
    law[:, 0] *= 0.5 + eta
    law /= law.sum(axis=2, keepdims=True)
    mass = rng.dirichlet(np.ones(2 * k)).reshape(k, 2)
    u = (np.einsum("ia,iax->ax", mass, law) * (2 * eta - 1)).ravel()
    v = np.stack([law[:, 0], -law[:, 1]], axis=1).reshape(k, -1)
    for eps in (np.zeros(k), np.array([0.02, 0.0, np.inf])):
        assert check(u, v, eps)[2] == pytest.approx(whole(u, v, eps), abs=1e-9)


# found by every scheme at budgets 0, 1e-9, 0.01 and 1, and by CFL's equalised odds at 0 and 0.03,
# on the audit's federations 0 to 999: multipliers of up to 1e8
@pytest.mark.parametrize(
    "seed, scheme, eps, notion",
    [
        (116, "cfl", 0.03, "eodds"),
        (465, "lft_fedavg", 1e-9, "dp"),
        (791, "lft_fedavg", 0.01, "dp"),
        pytest.param(802, "lft_fedavg", 0.0, "dp", marks=pytest.mark.slow),
        (832, "lft_fedavg", 0.0, "dp"),
    ],
)
def test_odd_federations_are_certified(seed: int, scheme: Any, eps: float, notion: Any) -> None:
    fed = Finite.random(np.random.default_rng([seed, 0])).build()
    s = ff.solve(fed, scheme, eps, notion=notion)
    assert abs(s.duality_gap) <= 1e-12 and s.certificates[0].violation <= 1e-12


# two of 20,000 random budgets of the audit's federations 0 to 199
@pytest.mark.parametrize("row", (51, 72))
def test_what_double_precision_does_not_decide_is_refused(row: int) -> None:
    rng = np.random.default_rng([17, 0])
    fed = Finite.random(rng).build()
    rng.permutation(fed.n_clients)  # as the audit draws
    with pytest.raises(ff.CertificationError, match="no solution certified to 1e-12"):
        ff.solve(fed, "lft_fedavg", random_budgets(fed, 100, rng)[row])


def test_a_programme_without_coefficients() -> None:
    """HiGHS crashes where such a programme is asked for its basis."""
    zeros, ones = np.zeros(1), np.ones(1)
    solution = Programme(np.zeros((1, 1))).refined(ones, zeros, ones, -ones, ones)
    assert solution is not None and (solution.x == 1.0).all() and (solution.y == 0.0).all()
