"""Orders of frontiers on a finite X and on laws: equalised odds is not above either of its halves,
blind rules not above those that see the group, and nobody above those who may do more.
"""

import functools
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from tasks import by_group

import fairfl as ff

HALVES = ("true_positive_rate_parity", "false_positive_rate_parity")
AT = (0.0, 0.02, 0.1, 0.3)
"""Disparities at which frontiers are compared."""
SEEDS = {"finite": range(6), "laws": range(2)}
ROUNDINGS = {"finite": 1e-11, "laws": 4e-10}
"""What two certified utilities may be off by, at costs of one."""


def federation(kind: str, seed: int) -> tuple[ff.Federation, dict[str, Any]]:
    """Two clients with everybody of 2 or 3 groups, and what is asked of them."""
    rng = np.random.default_rng(seed)
    shape = 2, 2 + seed % 2
    more = {
        "costs": [(1, 1), (3, 1)][rng.integers(2)],
        "difference": str(rng.choice(["pairwise", "overall"])),
    }
    if kind == "finite":
        masses = rng.gamma(1.0, size=(*shape, 5)) + 0.01
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        return ff.Federation.finite(range(5), masses, rng.random((2, 5)), [1, 2]), more
    mean, sd = rng.normal(size=shape), rng.uniform(0.5, 2.0, shape)
    share = rng.dirichlet(3 * np.ones(shape[1]), 2)
    laws = [
        tuple(norm(*each) for each in zip(*row, strict=True)) for row in zip(mean, sd, strict=True)
    ]
    eta = [ff.Logistic(*rng.uniform([0.5, -1], [2, 1])) for _ in laws]
    return ff.Federation([ff.Client(*own) for own in zip(laws, share, strict=True)], eta), more


@functools.cache
def orders(kind: str, seed: int) -> dict[str, tuple[Any, Any]]:
    """Two utilities, at several disparities, for each statement: the first may not be above."""
    fed, more = federation(kind, seed)
    found = {}

    def best(scheme: str, **given: Any) -> Any:
        return ff.frontier(fed, scheme, 2, **more, **given).utility_at(AT)

    for scheme in ("cfl", "client_aware"):
        both, sighted = best(scheme, notion="eodds"), best(scheme)
        for half in HALVES:
            found[f"{scheme}: equalised odds, {half}"] = both, best(scheme, notion=half)
        found[f"{scheme}: blind rules"] = best(scheme, sees="x"), sighted
    found["client-aware: local budgets"] = best("client_aware", local_eps=0.02), sighted
    found["cfl, client-aware"] = best("cfl"), sighted
    notion = [*HALVES, "accuracy_parity"][seed % 3]
    for scheme in ("lft_ensemble", "lft_fedavg") if kind == "finite" else ():
        local = ff.frontier(fed, scheme, 4, notion=notion, **more)
        pooled = ff.frontier(fed, "cfl", 2, notion=notion, **more)
        found[f"{scheme}, cfl"] = local.utility, pooled.utility_at(local.disparity)
    return found


@pytest.mark.parametrize(("kind", "seed"), [(kind, s) for kind in SEEDS for s in SEEDS[kind]])
def test_frontiers_are_in_order(kind: str, seed: int) -> None:
    fed, more = federation(kind, seed)
    close = ROUNDINGS[kind] * by_group(more["costs"], fed).max()
    for what, (less, most) in orders(kind, seed).items():
        assert (less <= most + close).all(), what


@pytest.mark.parametrize("kind", SEEDS)
def test_no_order_of_frontiers_holds_both_ways(kind: str) -> None:
    """Turned round, each statement is false on some federation."""
    apart: dict[str, float] = {}
    for seed in SEEDS[kind]:
        for what, (less, most) in orders(kind, seed).items():
            apart[what] = max(apart.get(what, 0.0), float((most - less).max()))
    assert min(apart.values()) > 1e-4, apart


def test_local_training_is_not_in_these_orders() -> None:
    """Two rates limited within each client may serve all clients better than one of them: pooled
    disparities are not what the budgets limit. The frontier of one rate is exact here.
    """
    rng = np.random.default_rng(54)
    n = int(rng.integers(2, 5))
    masses = rng.gamma(1.0, size=(2, 2, n)) + 0.01
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    fed = ff.Federation.finite(range(n), masses, rng.random((2, n)), [1, 2])
    both, one = (ff.frontier(fed, "lft_fedavg", 5, notion=name) for name in ("eodds", "eo"))
    reached = both.disparity >= one.disparity[0]
    assert one.exact and both.reproduced.all()
    above = both.utility[reached] - one.utility_at(both.disparity[reached])
    assert above.max() > 0.01
