"""Frontiers and smallest disparities on a finite X for every notion, cost and sight."""

from typing import Any

import numpy as np
import pytest
from audit import random_budgets
from tasks import NOTIONS, beaten, federation, random_question

import fairfl as ff


def arguments(seed: int, scheme: str, **sizes: Any) -> tuple[ff.Federation, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    fed = federation(rng, **sizes)
    return fed, random_question(rng, fed, scheme)[2]


@pytest.mark.parametrize("scheme", ["cfl", "client_aware"])
@pytest.mark.parametrize("seed", range(4))
def test_points_are_solutions(seed: int, scheme: str) -> None:
    fed, task = arguments(seed, scheme)
    F, m = ff.frontier(fed, scheme, 6, **task), ff.min_disparity(fed, scheme, **task)
    assert (np.diff(F.disparity) > 0).all() and (np.diff(F.utility) > 0).all()
    assert F.exact and F.disparity[0] == m.disparity == 0.0
    assert m.utility == pytest.approx(F.utility[0], abs=1e-11)
    assert m.accuracy == pytest.approx(F.accuracy[0], abs=1e-9)
    for d, best, accuracy, eps in zip(F.disparity, F.utility, F.accuracy, F.eps, strict=True):
        s = ff.solve(fed, scheme, eps, **task)
        assert s.utility == pytest.approx(best, abs=1e-11)
        assert s.accuracy == pytest.approx(accuracy, abs=1e-9)
        assert s.disparity <= d + 1e-12
        assert F.utility_at(d) == pytest.approx(best, abs=1e-11)
    assert F.utility_at(1.0) == pytest.approx(ff.solve(fed, scheme, np.inf, **task).utility)
    between = F.disparity[-1] / 3
    at = ff.solve(fed, scheme, between, **task).utility
    assert F.utility_at(between) == pytest.approx(at, abs=1e-11)


# a blind rule flips a level for both groups, so that a client's pooled MD may turn along its path:
# where only the ends of stretches counted, 0.0967 was told to be the least
TURNING = [[[0, 0, 0, 0, 0], [4, 2, 3, 1, 1]], [[5, 18, 1, 16, 1], [1, 6, 1, 10, 2]]]


@pytest.mark.parametrize("notion", ["dp", "eo", "accuracy_parity"])
@pytest.mark.parametrize("seed", [None, *range(12)])
@pytest.mark.every(8)
def test_no_blind_ensemble_is_below_the_minimum(seed: int | None, notion: str) -> None:
    masses, eta = np.array(TURNING, float), [[0.3, 0.9, 0.3, 0, 0.6], [0.7, 0.9, 0.5, 0.4, 0.1]]
    if seed is not None:
        rng = np.random.default_rng(seed)
        masses[1], eta = rng.integers(1, 20, (2, 5)), np.round(rng.random((2, 5)), 1)
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    fed = ff.Federation.finite(range(5), masses, eta)
    task: dict[str, Any] = {"notion": notion, "sees": "x"}
    m, F = (ask(fed, "lft_ensemble", **task) for ask in (ff.min_disparity, ff.frontier))
    # of the points within 1e-10 of the smallest disparity both take the most useful
    assert F.disparity[0] == pytest.approx(m.disparity, abs=1e-10) and m.reproduced
    for eps in np.linspace(0, 1, 41):
        s = ff.solve(fed, "lft_ensemble", [1.0, eps], **task)
        assert s.disparity >= m.disparity - 1e-10
        d = max(s.disparity, F.disparity[0])
        assert s.accuracy <= F.accuracy_at(d) + 1e-9


def test_tables_name_the_utility_where_it_differs() -> None:
    fed, _ = arguments(1, "cfl")
    F = ff.frontier(fed, "cfl", 3, costs=(5, 1), notion="eo")
    columns = ["scheme", "disparity", "accuracy", "utility", "gap", "eps_0"]
    assert list(F.to_frame().columns) == columns and not F.to_frame()["gap"].any()
    assert repr(F).startswith(f"Frontier('cfl', {F.disparity.size} points: disparity 0 to ")
    assert f"{1 + F.utility[-1]:.6g})" in repr(F) and len(repr(F)) < 120
    assert "utility" not in ff.frontier(fed, "cfl", 3).to_frame()


LOCAL = ("lft_ensemble", "lft_fedavg")
TOLERANCE = 1e-9
"""What budgets may be better than the search by: docs/exactness.md."""
EXACT = [
    (scheme, seed, notion, 2)
    for scheme, seeds in (("lft_ensemble", (100, 201)), ("lft_fedavg", (101, 200)))
    for seed in seeds
    for notion in ("demographic_parity", "true_positive_rate_parity", "false_positive_rate_parity")
]
"""Two groups with one rate: frontiers that are proven."""


@pytest.mark.parametrize(
    ("scheme", "seed", "notion", "groups"),
    [
        ("lft_ensemble", 1, "equalized_odds", 2),
        ("lft_ensemble", 1, "accuracy_parity", 3),
        ("lft_fedavg", 3, "equalized_odds", 3),
        ("lft_fedavg", 3, "accuracy_parity", 2),
        *EXACT,
        *(
            pytest.param(scheme, seed, notion, None, marks=pytest.mark.deep)
            for seed, notion in enumerate(4 * [*NOTIONS])
            for scheme in LOCAL
        ),
    ],
)
def test_no_budgets_beat_the_frontier(scheme, seed, notion, groups):
    rng = np.random.default_rng(seed)
    fed = federation(rng, clients=2 + seed // 100 % 2, groups=groups)
    task = random_question(rng, fed, scheme)[2]
    if scheme == "lft_ensemble":  # its members have one optimum: everybody is there
        masses = rng.gamma(1.0, size=(fed.n_clients, fed.n_groups, int(rng.integers(2, 7)))) + 0.01
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        points = np.arange(masses.shape[2])
        fed = ff.Federation.finite(points, masses, rng.random(masses.shape), fed.weight)
    rng = np.random.default_rng(seed)
    budgets = random_budgets(fed, 8, rng, notion)
    assert beaten(fed, scheme, {**task, "notion": notion}, budgets, 4) <= TOLERANCE


@pytest.mark.parametrize(("seed", "clients", "atoms"), [(6, 4, 11), (9, 4, 14)])
@pytest.mark.every(2)
def test_an_answer_depends_on_no_other(seed, clients, atoms):
    """One by one, downwards, answers were up to 2.4e-3 from those that were asked for together."""
    rng = np.random.default_rng(seed)
    rng.integers([3, 6, 2], [7, 16, 4])
    masses = rng.random((clients, 3, atoms)) ** 3
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    fed = ff.Federation.finite(np.arange(atoms), masses, rng.random((clients, atoms)))
    first, second = (ff.frontier(fed, "lft_fedavg", 4, notion="eodds") for _ in range(2))
    disparity = np.linspace(first.disparity[0], first.disparity[-1], 9)[:-1]
    one_by_one = [second.accuracy_at(d) for d in disparity[::-1]]
    np.testing.assert_allclose(first.accuracy_at(disparity)[::-1], one_by_one, rtol=0, atol=1e-12)
