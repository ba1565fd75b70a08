"""No rule is above what mixed-integer programmes prove: all vertices, budgets, planted faults."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from audit import random_budgets
from tasks import federation

import fairfl as ff
from fairfl.solvers.lft_fedavg import finite_exact, finite_programme
from fairfl.solvers.lft_fedavg.finite_exact import ExactFedAvg
from fairfl.solvers.lft_fedavg.finite_programme import Effort, FedAvgProgramme, Relaxed, Rows
from fairfl.solvers.lft_fedavg.finite_search import FedAvgSearch
from fairfl.solvers.numerics.highs import MixedOptimum
from fairfl.solvers.solution import CertificationError
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import BOUND_WRONG, PROVEN

EFFORT = Effort(300, 20)


def vertices_of(search: FedAvgSearch) -> ExactFedAvg:
    """All vertices of up to five clients."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finite_exact, "CLIENTS", 5)
        return ExactFedAvg.of(search.fed, search.task)


@pytest.fixture(autouse=True)
def no_client_has_few_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finite_exact, "CLIENTS", 0)


def best_at(search: FedAvgSearch, disparity: float) -> float:
    """The worth at a disparity by all vertices; minus infinity below the smallest."""
    exact = vertices_of(search)
    if disparity < exact.segments.smallest:
        return -np.inf
    return float(exact.points(np.array([disparity])).worth[0])


def with_a_free_cell(seed: int) -> ff.Federation:
    """The third client has one group, at a point of its own where η is 1/2: any rule is optimal
    there, and moves the pooled rate alone.
    """
    rng, masses = np.random.default_rng(seed), np.zeros((3, 2, 5))
    masses[:2, :, :4], masses[2, 0, 4] = rng.gamma(1.0, size=(2, 2, 4)), 1.0
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    return ff.Federation.finite(np.arange(5), masses, np.append(np.sort(rng.random(4)), 0.5))


def twins(difference: float, seed: int) -> ff.Federation:
    """Two clients whose laws differ by little: multipliers are large, or not bounded."""
    rng = np.random.default_rng(seed)
    masses, change = rng.gamma(1.0, size=(2, 6)), rng.normal(size=(2, 6))
    masses = np.abs(masses * np.stack([1.0 + difference * change, 1.0 - difference * change]))
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    return ff.Federation.finite(np.arange(6), masses, np.sort(rng.random(6)))


FEDERATIONS: dict[str, Callable[[], ff.Federation]] = {
    **{
        f"some {seed}": lambda seed=seed: federation(np.random.default_rng(seed), 2 + seed % 3, 2)
        for seed in range(8)
    },
    **{f"free {seed}": lambda seed=seed: with_a_free_cell(seed) for seed in (0, 4)},
    **{f"twins {size}": lambda size=size: twins(size, 4) for size in (1e-2, 1e-4, 1e-6, 0.0)},
}


@pytest.mark.parametrize("name", FEDERATIONS)
@pytest.mark.every(3)
def test_no_programme_excludes_what_vertices_attain(name: str) -> None:
    fed = FEDERATIONS[name]()
    task, rng = Task.of(fed, "lft_fedavg"), np.random.default_rng(0)
    search = FedAvgSearch.of(fed, task)
    programme, base, top = search.programme, search.faces.local.base, search.free.disparity
    for d in (0.0, *(top * 10.0 ** -rng.uniform(0.0, 8.0, 3)), *(top * rng.random(2))):
        relaxed = programme.relaxed(d)
        gap = relaxed.bound + base - best_at(search, d)
        close = [0.5 * gap, 1.01 * gap + 1e-9] if 1e-9 < gap < np.inf else []
        for allowed in (1e-8, 1e-3, *close, 2.0):
            try:  # without a rule to start from: nothing hides a wrong bound
                _, most = programme.within(relaxed, allowed, EFFORT)
            except CertificationError:
                continue
            assert gap >= relaxed.bound - max(most, relaxed.bound - allowed) - BOUND_WRONG, d


@pytest.mark.every(4)
@pytest.mark.parametrize("seed", range(12))
def test_no_budgets_are_above_the_bound(seed: int) -> None:
    rng = np.random.default_rng([46, seed])
    fed = federation(rng)
    options: list[dict[str, Any]] = [
        {}, {"notion": "eodds"}, {"sees": "x"}, {"costs": (1.0, 2.0)}, {"monotone": True},
    ]  # fmt: skip
    chosen = options[seed % 5]
    F = ff.frontier(fed, "lft_fedavg", 6, **chosen)
    for eps in random_budgets(fed, 30, rng):
        s = ff.solve(fed, "lft_fedavg", eps, **chosen)
        later = F.disparity >= s.disparity - 1e-11
        assert (1.0 + s.utility <= F.bound[later] + BOUND_WRONG).all()
        assert (1.0 + s.utility <= F.points.worth[later & F.proven] + PROVEN).all()


def wrong_sign(self: Rows, low: Any, high: Any, **tables: Any) -> None:
    if set(tables) == {"rule", "sign"}:  # λ > 0 asks for y = eps, not for y = -eps
        tables["sign"] = np.roll(tables["sign"], len(tables["sign"]) // 2, axis=1)
    ADD(self, low, high, **tables)


def overstated(self: FedAvgSearch, disparity: float) -> Any:
    place = KNOWN(self, disparity)
    return place and place._replace(gain=place.gain + 1e-4)


ADD, KNOWN, BOX, DUALITY = Rows.add, FedAvgSearch._known, Relaxed.box, FedAvgProgramme.duality
FAULTS: dict[str, tuple[object, str, object]] = {
    "none": (finite_programme, "LARGEST", 1e3),
    "a wrong sign of λ against y": (Rows, "add", wrong_sign),
    "a rule's worth is overstated": (FedAvgSearch, "_known", overstated),
    "cells fixed by too small a gap": (Relaxed, "box", lambda self, gap: BOX(self, 0.1 * gap)),
    "weak duality with a wrong constant": (
        FedAvgProgramme, "duality",
        lambda self, positive: (DUALITY(self, positive)[0], DUALITY(self, positive)[1] + 0.01),
    ),
    "multipliers beyond the limit": (finite_programme, "LARGEST", 1e-3),
    "all infeasible": (finite_programme, "best_mixed", lambda *_: MixedOptimum(None, -np.inf)),
    "HiGHS gives up": (finite_programme, "best_mixed", lambda *_: MixedOptimum(None, np.inf)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.every(3)
def test_planted_faults_prove_nothing_that_is_wrong(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed = three_clients()
    task = Task.of(fed, "lft_fedavg")
    search = FedAvgSearch.of(fed, task)
    monkeypatch.setattr(*FAULTS[fault])
    F = FedAvgSearch.of(fed, task).frontier(7)
    best = np.array([best_at(search, d) for d in F.disparity])
    assert (best <= F.bound + BOUND_WRONG).all()
    assert (best - F.points.worth)[F.proven].max(initial=0.0) <= PROVEN
    cfl = ff.frontier(fed, "cfl", 2).accuracy_at(F.disparity)
    needs_programme = cfl - best > 1e-4
    assert needs_programme.any()
    if fault == "none":
        assert F.proven.all()
    if fault in ("multipliers beyond the limit", "HiGHS gives up"):
        assert not F.proven[needs_programme].any()


def three_clients() -> ff.Federation:
    """CFL is above LFT+FedAvg, whose smallest disparity is not zero."""
    rng = np.random.default_rng(11)
    masses = rng.gamma(0.5, size=(3, 2, 6)) + 1e-3
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    return ff.Federation.finite(np.arange(6), masses, np.sort(rng.random(6)))


def test_below_the_smallest_disparity_is_proven_to_be_nothing() -> None:
    fed = three_clients()
    task = Task.of(fed, "lft_fedavg")
    search = FedAvgSearch.of(fed, task)
    assert (smallest := vertices_of(search).segments.smallest) > 1e-6
    assert search.best(0.999 * smallest) == (None, -np.inf)
    assert search.best(1.001 * smallest)[0] is not None


def test_probing_loses_no_rule() -> None:  # HiGHS' own lost 6.4e-4
    rng = np.random.default_rng([99, 84])
    rng.integers(2, 6), rng.integers(2, 14), rng.integers(0, 5)
    masses, share = rng.gamma(0.5, size=(3, 2, 12)) + 1e-9, rng.dirichlet([3.0, 3.0], 3)
    rng.random(2)
    masses *= (share / masses.sum(axis=2))[..., None]
    masses[1:, :, rng.integers(12)] = 0.0
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    eta, _ = np.sort(rng.random(12)), [rng.integers(0, 9, 12), rng.random(36), rng.choice(6, 12)]
    rng.integers(4), rng.random()
    fed = ff.Federation.finite(np.arange(12), masses, eta, weight=10.0 ** rng.uniform(-3, 0, 3))
    task = Task.of(fed, "lft_fedavg")
    search = FedAvgSearch.of(fed, task)
    most = search.programme.within(search.programme.relaxed(0.275), 0.1, EFFORT)[1]
    assert most + search.faces.local.base >= best_at(search, 0.275) - BOUND_WRONG
