"""Frontiers know how far they may be from the best, and can be pickled."""

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from tasks import federation

import fairfl as ff
from fairfl.solvers.frontier import Points, points_of
from fairfl.solvers.frontier_checks import checked, upper_bound
from fairfl.solvers.task import Task

FED = ff.Federation.normal([[3, 5], [1, -1]], q=[0.3, 0.7])
TASK: Any = {"costs": (2, 1), "sees": "x", "notion": "eo"}


def test_a_searched_frontier_is_bounded() -> None:
    F = ff.frontier(FED, "lft_fedavg", points=5)
    cfl = ff.frontier(FED, "cfl", 2)
    assert not F.exact and (F.gap >= 0).all()
    assert F.gap.max() < 1e-4 < np.median(cfl.accuracy_at(F.disparity) - F.accuracy)
    between = (F.disparity[1] + F.disparity[2]) / 2
    assert F.accuracy_at(between) <= F.bound_at(between) <= cfl.accuracy_at(between)
    copy = pickle.loads(pickle.dumps(F))
    assert copy.accuracy_at(between) == pytest.approx(F.accuracy_at(between), abs=1e-12)
    assert F.bound_at(F.disparity[[2, 1]]) == pytest.approx(F.bound[[2, 1]], abs=1e-4)
    with pytest.raises(ValueError, match="disparity must be at least"):
        F.bound_at(0.0)


def test_a_finite_x_is_bounded_between_points_as_at_them() -> None:
    """Four clients, whose frontier is proven, and up to .015 below CFL's."""
    x, rng = np.linspace(-7, 7, 20), np.random.default_rng(6)
    mean, sd, q = rng.normal(0, 1.5, (4, 2)), rng.uniform(0.5, 2, (4, 2)), rng.uniform(0.2, 0.8, 4)
    masses = np.exp(-(((x - mean[..., None]) / sd[..., None]) ** 2) / 2)
    masses *= np.stack([1 - q, q], axis=1)[..., None] / masses.sum(axis=2, keepdims=True)
    fed = ff.Federation.finite(x, masses, 1 / (1 + np.exp(-x)))
    F, cfl = ff.frontier(fed, "lft_fedavg", 4), ff.frontier(fed, "cfl", 2)
    assert F.proven.all() and (cfl.accuracy_at(F.disparity) - F.accuracy).max() > 1e-3
    assert F.bound_at(F.disparity) == pytest.approx(F.bound, abs=1e-8)
    copy, middle = pickle.loads(pickle.dumps(F)), F.disparity[:2].mean()
    assert F.bound_at(middle) - 1e-6 <= F.accuracy_at(middle) <= F.bound_at(middle)
    assert copy.bound_at(middle) == pytest.approx(F.bound_at(middle), abs=1e-8)
    assert F.bound_at(middle) < cfl.accuracy_at(middle) - 1e-3


@pytest.mark.parametrize(
    ("worth", "later", "message"),
    [(0.05, 0.0, "above CFL's"), (-0.05, 0.0, "it is below"), (0.0, 0.2, "it starts at")],
)
def test_a_wrong_frontier_is_refused(worth: float, later: float, message: str) -> None:
    task, right = Task.of(FED, "lft_ensemble"), ff.frontier(FED, "lft_ensemble", points=5)
    ends = points_of(FED, [ff.solve(FED, "lft_ensemble", eps) for eps in (0.0, 1.0)])
    checked(FED, task, right, ends)
    wrong = dataclasses.replace(
        right,
        accuracy=right.accuracy + worth,
        disparity=right.disparity + later,
        evaluate=lambda d: Points(d, np.full(d.size, worth >= 0.0), np.zeros((d.size, 2))),
    )
    with pytest.raises(ff.CertificationError, match=f"of lft_ensemble is wrong: .*{message}"):
        checked(FED, task, wrong, ends)


@pytest.mark.parametrize("clients", [1, 4])
def test_many_clients_are_bounded_by_cfl(clients: int) -> None:
    rng = np.random.default_rng(4)
    fed = ff.Federation.normal(rng.normal(0, 2, (clients, 2)), q=rng.uniform(0.2, 0.8, clients))
    F = ff.frontier(fed, "lft_ensemble", points=5)
    cfl = ff.frontier(fed, "cfl", 2).accuracy_at(F.disparity)
    assert F.bound == pytest.approx(F.accuracy if F.exact else cfl, abs=1e-10)


@pytest.mark.parametrize("costs", [(1.0, 1.0), (3.0, 1.0)])
def test_exact_frontiers_are_their_own_bounds(costs: Any) -> None:
    fed = federation(np.random.default_rng(1), 2, 2)
    for scheme in ("cfl", "lft_fedavg", "client_aware"):
        F = ff.frontier(fed, scheme, points=5, costs=costs)
        assert F.exact and (F.bound == F.points.worth).all() and not F.gap.any()
        assert F.bound_at(F.disparity[-1]) == F.bound[-1]


def test_ensembles_on_a_finite_x_are_bounded_by_reduced_costs() -> None:
    fed = federation(np.random.default_rng(2), 4, 2)
    F = ff.frontier(fed, "lft_ensemble", points=5)
    task = Task.of(fed, "lft_ensemble")
    bound = upper_bound(fed, task, F.disparity, F.accuracy - 1e-3)  # as if it were not the best
    cfl = ff.frontier(fed, "cfl", 2).accuracy_at(F.disparity)
    assert (bound >= F.accuracy - 1e-12).all() and (bound <= cfl).all()
    assert bound == pytest.approx(F.accuracy, abs=1e-9)


def test_a_bound_below_the_frontier_is_an_error() -> None:
    F = ff.frontier(FED, "lft_ensemble", points=5)
    F = dataclasses.replace(F, exact=False, worth_bound=lambda d, worth: worth - 1e-3)
    with pytest.raises(ff.CertificationError, match="bound of lft_ensemble is wrong"):
        _ = F.bound


@pytest.mark.parametrize("scheme", ["cfl", "lft_ensemble", "client_aware"])
@pytest.mark.parametrize("finite", [False, True], ids=["laws", "finite"])
def test_frontiers_can_be_pickled(finite: bool, scheme: Any) -> None:
    fed, task = (federation(np.random.default_rng(1), 2, 2), TASK) if finite else (FED, {})
    F = ff.frontier(fed, scheme, points=3, **task)
    copy = pickle.loads(pickle.dumps(F))
    for name in ("disparity", "accuracy", "eps", "utility", "reproduced"):
        assert (getattr(copy, name) == getattr(F, name)).all()
    between = F.disparity.mean()
    assert copy.utility_at(between) == pytest.approx(F.utility_at(between), abs=1e-12)
