"""CFL under local budgets: one shared rule, a pooled budget and one of each client."""

from itertools import product

import numpy as np
import pytest

import fairfl as ff

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
