"""CFL's frontier on a finite X, and CFL under local budgets."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import fairfl as ff


def test_people_at_even_odds_cost_nothing() -> None:
    # group 0: half at η = .9, half at 1/2; group 1: half at .9, half at .2. Accepting nobody at 1/2
    # is as accurate as accepting all of them: the most accurate point has both groups at a rate of
    # 1/2
    masses = np.array([[[0.0, 0.25, 0.25], [0.25, 0.0, 0.25]]])
    fed = ff.Federation.finite([0.0, 1.0, 2.0], masses, eta=np.array([0.2, 0.5, 0.9]))
    F = ff.frontier(fed, "cfl", points=20)
    assert F.disparity.tolist() == [0.0] and F.accuracy[0] == pytest.approx(
        0.5 * 0.9 + 0.25 * 0.5 + 0.25 * 0.8
    )
    # here both groups have people at even odds
    masses = np.array([[[0.0, 0.1, 0.4], [0.35, 0.05, 0.1]]])
    fed = ff.Federation.finite([0.0, 1.0, 2.0], masses, eta=np.array([0.2, 0.5, 0.9]))
    F = ff.frontier(fed, "cfl", points=20)
    # rates of 2.0 alone: .8 and .2; the even-odds cell, rejected in group 0 and accepted in group
    # 1, makes .8 - .3
    assert F.disparity[-1] == pytest.approx(0.5, abs=1e-15)
    assert F.accuracy[-1] == ff.solve(fed, "cfl", 1.0).accuracy


@pytest.mark.parametrize(
    ("seed", "task"),
    [(366, {"costs": (5, 1)}), (591, {"difference": "overall"}), (1154, {"costs": (5, 1)})],
)
def test_a_disparity_of_the_size_of_rounding_is_one_point(seed: int, task: Any) -> None:
    rng = np.random.default_rng(seed)  # groups with one law: the free MD is 0 up to rounding
    points, clients = int(rng.integers(3, 60)), int(rng.integers(1, 6))
    law, q = rng.random(points) ** 3, rng.uniform(0.05, 0.95, clients)
    masses = np.stack([np.stack([(1 - share) * law, share * law]) for share in q])
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    eta, weight = rng.random(points), rng.random(clients) + 0.1
    fed = ff.Federation.finite(np.arange(points), masses, eta, weight)
    F = ff.frontier(fed, "cfl", points=20, **task)
    assert F.disparity.tolist() == [0.0]
    assert F.utility[0] == pytest.approx(ff.solve(fed, "cfl", 1.0, **task).utility, abs=1e-15)


def test_gaps_between_laws() -> None:
    # MD jumps at a multiplier: there two rules are mixed, and the frontier is straight
    eta = [ff.Logistic(2.23867, -0.62818), ff.Logistic(2.68416, 0.730869)]
    mean, sd = [[-4.567, 21.236], [-12.868, 5.294]], [[12.673, 0.0936], [0.6605, 11.829]]
    fed = ff.Federation.normal(mean, sd, q=[0.5936, 0.1677], weight=[0.4934, 0.5066], eta=eta)
    F = ff.frontier(fed, "cfl", points=5)
    for d in np.linspace(0, F.disparity[-1], 4):
        assert F.accuracy_at(d) == pytest.approx(ff.solve(fed, "cfl", d).accuracy, abs=1e-9)
    slopes = np.diff(F.accuracy) / np.diff(F.disparity)
    assert F.disparity.size == 5 and (np.diff(slopes) <= 1e-9).all()


NOTIONS = ("dp", "eo", "eodds", "accuracy_parity")
QUESTIONS = list(product(NOTIONS, ("xa", "x"), ("pairwise", "overall")))


@pytest.mark.parametrize(("notion", "sees", "difference"), QUESTIONS)
def test_a_shared_rule_keeps_both_kinds_of_budgets(notion, sees, difference) -> None:
    """As the independent linear programme; without one kind it is CFL or LFT+FedAvg."""
    question = dict(notion=notion, sees=sees, difference=difference)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        clients, groups, n = 1 + seed, 2 + seed % 2, 5
        masses = rng.dirichlet(np.ones(groups * n), clients).reshape(clients, groups, n)
        fed = ff.Federation.finite(np.arange(n), masses, rng.random(n))
        eps, local_eps = 0.3 * rng.random(), 0.3 * rng.random(clients)
        s = ff.solve(fed, "cfl", eps, local_eps=local_eps, **question)
        twin = ff.solve(fed, "cfl", eps, local_eps=local_eps, method="lp", **question)
        assert s.accuracy == pytest.approx(twin.accuracy, abs=1e-7)
        assert s.disparity <= eps + 1e-12 and (s.local_disparities <= local_eps + 1e-12).all()
        for budgets, scheme, alone in (
            ((np.inf, local_eps), "lft_fedavg", local_eps),
            ((eps, np.inf), "cfl", eps),
        ):
            both = ff.solve(fed, "cfl", budgets[0], local_eps=budgets[1], **question)
            expected = ff.solve(fed, scheme, alone, **question).accuracy
            assert both.accuracy == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("is_finite", [True, False])
def test_the_frontier_under_local_budgets_is_of_solutions(is_finite) -> None:
    fed = ff.Federation.normal(mean=[[3, 5], [1, -1], [0, 1]], q=[0.3, 0.5, 0.6])
    if is_finite:
        masses = np.random.default_rng(1).dirichlet(np.ones(12), 3).reshape(3, 2, 6)
        fed = ff.Federation.finite(np.arange(6), masses, np.linspace(0.1, 0.9, 6))
    F = ff.frontier(fed, "cfl", 5, local_eps=0.05)
    for d, accuracy in zip(F.disparity, F.accuracy, strict=True):
        s = ff.solve(fed, "cfl", d, local_eps=0.05)
        assert s.accuracy == pytest.approx(accuracy, abs=1e-9)
        assert s.local_disparities.max() <= 0.05 + 1e-10
    assert (F.accuracy <= ff.frontier(fed, "cfl", 5).accuracy_at(F.disparity) + 1e-9).all()
    assert ff.min_disparity(fed, "cfl", local_eps=0.05).disparity == 0.0
    aware = ff.frontier(fed, "client_aware", 5, local_eps=0.05)
    assert (aware.accuracy_at(F.disparity) >= F.accuracy - 1e-9).all()
