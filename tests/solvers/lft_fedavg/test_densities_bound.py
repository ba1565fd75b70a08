"""Upper bounds on LFT+FedAvg's accuracy: against grids and random budgets."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fairfl as ff
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.lft_fedavg.densities_bound import CLIENTS, highest_accuracy
from fairfl.solvers.lft_fedavg.densities_programme import closer_bounds
from fairfl.solvers.task import Task

FEDERATIONS = {
    "shares differ": ff.Federation.normal([[3, 5], [1, -1]], q=[0.3, 0.7]),
    "spreads differ": ff.Federation.normal(
        [[3, 5], [1, -1]], sd=[[1, 2], [0.5, 3]], q=[0.2, 0.6], weight=[1, 3]
    ),
    "one group only": ff.Federation.normal([[0, 2], [1, -1], [1, 0]], q=[0.4, 0.7, 0.0]),
    "mixtures": ff.Federation(
        [
            ff.Client((ff.Mixture([stats.norm(-3), stats.norm(3, 0.3)]), stats.norm(1)), 0.3),
            ff.Client((stats.laplace(1), ff.Mixture([stats.norm(-2, 0.4), stats.norm(2)])), 0.6),
        ],
        eta=[ff.Logistic(), ff.Logistic(2.0, 1.0)],
    ),
    "three": ff.Federation.normal([[0, 2], [1, -1], [-1, 1]], sd=[1, 2, 0.7], q=[0.3, 0.5, 0.8]),
}


def attained(fed: ff.Federation, count: int) -> tuple[Any, Any]:
    """(disparity, accuracy) of solutions, by increasing disparity and the best so far: of all
    multipliers on a grid, some of them zero, that solve their budgets, and of a few budgets.
    """
    rng = np.random.default_rng(1)
    axis = np.append(0.0, np.linspace(-0.6, 0.6, count))
    lam = np.stack(np.meshgrid(*[axis] * fed.n_clients), axis=-1).reshape(-1, fed.n_clients)
    lam[:, ~fed.defined] = 0.0
    rules = RuleFamily.of(fed).at(np.unique(lam, axis=0))
    rules = rules.take(np.flatnonzero(rules.excess.max(axis=1) == 0))
    solutions = [
        ff.solve(fed, "lft_fedavg", eps)
        for eps in rng.random((6, fed.n_clients)) * rng.integers(0, 2, (6, fed.n_clients))
    ]
    d = np.append(rules.disparity, [s.disparity for s in solutions])
    accuracy = np.append(rules.accuracy, [s.accuracy for s in solutions])
    order = np.argsort(d, kind="stable")
    return d[order], np.maximum.accumulate(accuracy[order])


def bounded(fed: ff.Federation, d: Any, accuracy: Any, boxes: int) -> Any:
    bound = highest_accuracy(fed, d, accuracy, boxes)
    assert bound is not None
    return bound


def by_cells(fed: ff.Federation, lower: float) -> tuple[Any, Any, Any]:
    """What is attained at a disparity, the bound of programmes of cells that know of a rule that is
    less accurate by ``lower``, and CFL's.
    """
    d, accuracy = attained(fed, {2: 31, 3: 9}[fed.n_clients])
    targets = np.array([0.7]) * ff.frontier(fed, "cfl", 2).disparity[-1]
    best = accuracy[np.searchsorted(d, targets, side="right") - 1]
    bounds = closer_bounds(fed, Task.of(fed, "lft_fedavg"), targets, best - lower)
    return best, bounds, ff.frontier(fed, "cfl", 2).accuracy_at(targets)


@pytest.mark.parametrize("name", ["spreads differ", "mixtures", "three"])
def test_no_multipliers_are_above_the_bound_by_cells(name: str) -> None:
    best, bounds, cfl = by_cells(FEDERATIONS[name], 3e-4)
    assert (bounds >= best - 1e-9).all()
    assert (bounds <= cfl + 1e-9).all()


def at_the_frontier(lower: float) -> tuple[Any, Any, Any]:
    """As ``by_cells``, at a point of the frontier of two clients, which boxes prove."""
    fed, F, k = FEDERATIONS["shares differ"], searched(), slice(3, 4)
    bounds = closer_bounds(fed, Task.of(fed, "lft_fedavg"), F.disparity[k], F.accuracy[k] - lower)
    return F.accuracy[k], bounds, ff.frontier(fed, "cfl", 2).accuracy_at(F.disparity[k])


def test_cells_prove_what_boxes_prove() -> None:
    best, bounds, cfl = at_the_frontier(1e-5)  # a bound is never below what the cells know of
    assert (bounds >= best - 1e-9).all()
    assert (bounds - best <= 0.5 * (cfl - best)).all()


@pytest.mark.parametrize("name", [k for k, fed in FEDERATIONS.items() if fed.n_clients == 2])
def test_no_multipliers_are_above_the_bound(name: str) -> None:
    fed = FEDERATIONS[name]
    d, accuracy = attained(fed, 31)
    before = np.inf
    for boxes in (1, 300, 1000):
        bound = bounded(fed, d, accuracy, boxes)
        assert (bound >= accuracy - 1e-10).all()
        assert (np.diff(bound) >= 0).all()
        assert (bound <= before + 1e-12).all()
        before = bound


def test_the_bound_needs_no_attained_points() -> None:
    fed = FEDERATIONS["shares differ"]
    d, accuracy = attained(fed, 41)
    bound = bounded(fed, d, np.zeros(d.size), 2000)
    assert (bound >= accuracy - 1e-10).all()


@cache
def searched() -> ff.Frontier:
    return ff.frontier(FEDERATIONS["shares differ"], "lft_fedavg", points=5)


def test_the_bound_is_close_to_the_frontier() -> None:
    fed, F = FEDERATIONS["shares differ"], searched()
    gap = bounded(fed, F.disparity, F.accuracy, 6000) - F.accuracy
    cfl = ff.frontier(fed, "cfl", 2).accuracy_at(F.disparity) - F.accuracy
    assert gap.max() <= 2e-5 < 5e-4 <= np.median(cfl)


def test_where_there_is_no_bound() -> None:
    many = ff.Federation.normal(np.zeros((CLIENTS + 1, 2)) + [0, 1])
    twins = ff.Federation.normal([[0, 1], [0, 1]])
    alone = ff.Federation.normal([[0, 1], [1, 2]], q=[0, 1])
    for fed in (many, twins, alone):
        assert highest_accuracy(fed, np.zeros(1), np.zeros(1)) is None
