"""Bounds on LFT+FedAvg's accuracy and smallest disparity: against grids of multipliers and random
budgets.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fairfl as ff
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.lft_fedavg import multiplier_boxes
from fairfl.solvers.lft_fedavg.multiplier_boxes import closer_bounds, smallest_disparity
from fairfl.solvers.task import Task

MIXED = ff.Mixture([stats.norm(-3), stats.norm(3, 0.3)]), stats.norm(1)
OTHER = stats.laplace(1), ff.Mixture([stats.norm(-2, 0.4), stats.norm(2)])
THREE = stats.norm(0.5, 1.7), stats.norm(1.2, 1.1), stats.norm(0.5, 1.3)
TWO_OF_THREE = stats.norm(-2, 0.5), stats.norm(1.4, 1.6), stats.norm(0.7, 1.3)
FEDERATIONS = {
    "shares differ": ff.Federation.normal([[3, 5], [1, -1]], q=[0.3, 0.7]),
    "spreads differ": ff.Federation.normal(
        [[3, 5], [1, -1]], [[1, 2], [0.5, 3]], [0.2, 0.6], [1, 3]
    ),
    "one group only": ff.Federation.normal([[0, 2], [1, -1], [1, 0]], q=[0.4, 0.7, 0.0]),
    "mixtures": ff.Federation(
        [ff.Client(MIXED, 0.3), ff.Client(OTHER, 0.6)], [ff.Logistic(), ff.Logistic(2.0, 1.0)]
    ),
    "three": ff.Federation.normal(
        [[3.1, 1.5], [-1.9, -0.4], [-0.6, 4.7]],
        [[1.0, 0.7], [1.1, 1.4], [0.9, 1.5]],
        [0.7, 0.4, 0.5],
    ),
    "four": ff.Federation.normal(
        [[-2.8, -2.4], [-2.6, -1.2], [2.9, -3.2], [1.9, 2.5]],
        [[0.6, 1.3], [1.4, 0.6], [1.2, 1.0], [0.8, 1.7]],
        [0.5, 0.3, 0.4, 0.7],
    ),
    "three groups": ff.Federation(
        [ff.Client(THREE, [0.3, 0.3, 0.4]), ff.Client(TWO_OF_THREE, [0.4, 0.6, 0])], ff.Logistic()
    ),
}


@cache
def attained(name: str, notion: Any = "demographic_parity", sees: Any = "xa") -> tuple[Any, Any]:
    """(disparity, accuracy) of solutions, by increasing disparity and the best so far: of
    multipliers on a grid, some of them zero, that solve their budgets, and of a few budgets.
    """
    fed, rng = FEDERATIONS[name], np.random.default_rng(1)
    family = RuleFamily.of(fed, Task.of(fed, "lft_fedavg", notion, sees=sees))
    k = family.client.size
    axis = np.append(0.0, np.linspace(-0.6, 0.6, {2: 41, 3: 13, 4: 7, 6: 5}[k]))
    lam = np.stack(np.meshgrid(*[axis] * k), axis=-1).reshape(-1, k)
    lam[:, ~family.bound] = 0.0
    rules = family.at(np.unique(lam, axis=0))
    rules = rules.take(np.flatnonzero(rules.excess.max(axis=1) == 0))
    budgets = rng.random((6, fed.n_clients)) * rng.integers(0, 2, (6, fed.n_clients))
    solutions = [ff.solve(fed, "lft_fedavg", eps, notion=notion, sees=sees) for eps in budgets]
    d = np.append(rules.disparity, [s.disparity for s in solutions])
    accuracy = np.append(rules.accuracy, [s.accuracy for s in solutions])
    order = np.argsort(d, kind="stable")
    return d[order], np.maximum.accumulate(accuracy[order])


SOME = ("shares differ", "one group only", "mixtures", "four", "three groups")
CASES: list[tuple[Any, ...]] = [(name, "demographic_parity", "xa") for name in SOME]
CASES += [("shares differ", "equalized_odds", "xa"), ("spreads differ", "demographic_parity", "x")]


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_no_multipliers_are_above_the_bound(
    case: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, notion, sees = case
    fed, (d, accuracy) = FEDERATIONS[name], attained(*case)
    d, accuracy = d[:: max(1, d.size // 4)], accuracy[:: max(1, d.size // 4)]
    cfl = ff.frontier(fed, "cfl", 2, notion=notion, sees=sees).accuracy_at(d)
    task, before = Task.of(fed, "lft_fedavg", notion, sees=sees), cfl
    for programmes, lower in ((60, 0.1), (0, 0.0), (60, 0.0)):
        monkeypatch.setattr(multiplier_boxes, "PROGRAMMES", programmes)
        bound = closer_bounds(fed, task, d, accuracy - lower, cfl)
        assert bound is not None
        assert (bound >= accuracy - 1e-9).all()
        assert (np.diff(bound) >= 0).all()
        assert (bound <= before + 1e-9).all()
        before = cfl if lower else bound


@pytest.mark.parametrize("name", ["shares differ", "three", "three groups"])
def test_a_frontier_is_proven(name: str) -> None:
    fed = FEDERATIONS[name]
    F = ff.frontier(fed, "lft_fedavg", points=4)
    cfl = ff.frontier(fed, "cfl", 2).accuracy_at(F.disparity)
    assert (cfl - F.accuracy).max() > 5e-4
    assert F.proven.all()
    assert (F.gap >= 0).all()


def test_a_bound_leaves_in_what_touches_cfl(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only client's rules are CFL's: no bound is below them, whatever is known."""
    fed = ff.Federation.normal([[0, 2]], q=[0.4])
    cfl = ff.frontier(fed, "cfl", 3)
    d, accuracy = cfl.disparity[-1:], cfl.accuracy[-1:]
    monkeypatch.setattr(multiplier_boxes, "PROGRAMMES", 500)
    bound = closer_bounds(fed, Task.of(fed, "lft_fedavg"), d, accuracy - 0.05, accuracy)
    assert bound == pytest.approx(accuracy, abs=1e-9)


def test_a_wrong_sign_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were complementarity turned round, what is attained would be above the bound."""
    fed, (d, accuracy) = FEDERATIONS["shares differ"], attained("shares differ")
    d, accuracy = d[d.size // 2, None], accuracy[d.size // 2, None]
    cfl = ff.frontier(fed, "cfl", 2).accuracy_at(d)
    right = multiplier_boxes.Boxes.sign.fget
    assert right is not None
    monkeypatch.setattr(multiplier_boxes.Boxes, "sign", property(lambda boxes: -right(boxes)))
    monkeypatch.setattr(multiplier_boxes, "PROGRAMMES", 300)
    bound = closer_bounds(fed, Task.of(fed, "lft_fedavg"), d, accuracy - 0.1, cfl)
    assert bound is not None
    assert (bound < accuracy - 1e-3).any()


@pytest.mark.parametrize("name", ["shares differ", "three"])
def test_the_smallest_disparity_has_a_lower_bound(name: str) -> None:
    fed = FEDERATIONS[name]
    m = ff.min_disparity(fed, "lft_fedavg", certify=fed.n_clients > 2)
    lower = m.lower
    if fed.n_clients == 2:
        lower = smallest_disparity(fed, Task.of(fed, "lft_fedavg"), m.disparity)
    assert lower is not None
    assert lower <= m.disparity <= lower + 1e-5
    assert lower <= attained(name)[0][0]


def test_where_there_is_no_bound() -> None:
    for fed, difference in (
        (ff.Federation.normal([[0, 1], [0, 1]]), "pairwise"),
        (FEDERATIONS["three groups"], "overall"),
    ):
        task = Task.of(fed, "lft_fedavg", difference=difference)
        assert closer_bounds(fed, task, np.zeros(1), np.zeros(1), np.ones(1)) is None
