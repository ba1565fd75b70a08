"""frontier(..., budgets="common") against ``solve`` at a grid of budgets: none is above or less
disparate, and every point is one of these solutions.
"""

from typing import Any

import numpy as np
import pytest
from audit import Finite
from hypothesis import given, settings
from strategies import finite_federations
from tasks import federation, random_question

import fairfl as ff
from fairfl.solvers import common_budget
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.task import Task

GRID = np.linspace(0.0, 1.0, 12)
NEAR = np.array([-1e-2, -1e-4, 1e-4, 1e-2])
"""Budgets beside the ends of the frontier."""
LOCAL = ("lft_fedavg", "lft_ensemble")
FEWER = settings(max_examples=max(5, settings.default.max_examples // 4))  # type: ignore[union-attr]
LAWS = {
    "crossing zero": ff.Federation.normal([[3, 5], [1, -1], [0, 1]], 1.0, [0.5, 0.4, 0.3]),
    "unequal widths": ff.Federation.normal([[0, 1], [1, 0.5]], [0.5, 2.0], [0.3, 0.6], [1, 3]),
    "three groups": ff.Federation.normal([[0, 1, 2], [1, -1, 0]], 1.0),
}


def check(fed: ff.Federation, scheme: str, blur: float, **task: Any) -> ff.Frontier:
    """The curve against the twin; ``blur``: what a solution may be better by."""
    F = ff.frontier(fed, scheme, 12, budgets="common", **task)
    assert (np.diff(F.disparity) > 0).all() and (np.diff(F.utility) > 0).all()
    assert (F.eps == F.eps[:, :1]).all() and F.reproduced.all()
    beside = np.clip(F.eps[[0, -1], :1] + NEAR, 0.0, 1.0)
    twin = [ff.solve(fed, scheme, eps, **task) for eps in [*GRID, *beside.ravel()]]
    disparity, utility = np.array([[s.disparity, s.utility] for s in twin]).T
    assert disparity.min() >= F.disparity[0] - blur
    best = F.utility_at(np.maximum(disparity, F.disparity[0]))
    assert (utility <= best + blur).all()
    inner = F.disparity[0] + np.array([0.21, 0.5, 0.83]) * np.ptp(F.disparity)
    points = F.evaluate(inner)
    assert (points.disparity <= inner + 1e-10).all()
    for eps, d, worth in zip(points.eps, points.disparity, points.worth, strict=True):
        s = ff.solve(fed, scheme, eps, **task)
        assert (s.disparity, 1 + s.utility) == pytest.approx((d, worth), abs=1e-9)
    return F


@pytest.mark.parametrize("scheme", LOCAL)
@FEWER
@given(fed=finite_federations(max_clients=3, max_points=5))
def test_finite_with_ties(scheme: str, fed: ff.Federation) -> None:
    assert check(fed, scheme, 1e-9).exact


def test_peaks_are_below_neither_neighbour_and_above_one() -> None:
    values = np.array([0.0, 1, 1, 0, -1, 0, 0, 2, 1, 1, 1])
    assert common_budget._peaks(values).tolist() == [1, 2, 5, 7]


def test_budgets_that_only_change_the_toss() -> None:
    masses = [
        [[0, 0, 0, 0.8125], [0.046875, 0, 0, 0.140625]],
        [[0, 0, 0.625, 0.3125], [0, 0, 0, 0.0625]],
        [[0.4, 0.6, 0, 0], [0, 0, 0, 0]],
    ]
    fed = ff.Federation.finite(range(4), masses, [0.5625, 0, 0, 0.5], weight=[1, 1, 2])
    check(fed, "lft_fedavg", 1e-9)


DRAWN = [
    *((scheme, seed, 2) for seed in range(4) for scheme in LOCAL),
    *(("lft_fedavg", seed, 3 + seed % 2) for seed in (48, 51, 52, 53)),
    *(("lft_ensemble", 60 + seed, 3) for seed in range(3)),
]


@pytest.mark.parametrize(("scheme", "seed", "groups"), DRAWN)
def test_every_notion(scheme: str, seed: int, groups: int) -> None:
    """Ensembles take of several optima the one nearest to a toss: no linear path."""
    rng = np.random.default_rng(seed)
    fed = federation(rng, groups=groups, clients=2 + seed % 3 if groups == 2 else 2)
    task = random_question(rng, fed, scheme)[2]
    several = groups > 2 or task["notion"] == "equalized_odds"
    blur = 1e-5 if several else 1e-9
    F = check(fed, scheme, blur, **task)
    assert F.exact != several


@pytest.mark.parametrize("scheme", LOCAL)
@pytest.mark.parametrize("notion", ["dp", "eo"])
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.every(5)
def test_laws(name: str, notion: Any, scheme: str) -> None:
    check(LAWS[name], scheme, 1e-7, notion=notion, costs=(1 + (notion == "eo"), 1))


def random_federation(seed: int) -> ff.Federation:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    mean, sd = rng.normal(0, 2, (n, 2)), np.exp(rng.uniform(-1, 1, (n, 2)))
    return ff.Federation.normal(mean, sd, rng.uniform(0.05, 0.95, n), rng.dirichlet(np.ones(n)))


LAW = [[2.3, 1.93], [4.42, -4.4]], [[2.23, 2.81], [1.69, 1.35]], [0.592, 0.708], [0.157, 0.153]
JUMPS = [  # a budget whose solution was missed: by 0.15, beside an extremum, at a steep edge
    ("lft_fedavg", ff.Federation.normal(*LAW, ff.Logistic(1.37, -2.75)), 0.34165),
    ("lft_fedavg", random_federation(5), 0.627619),
    ("lft_ensemble", random_federation(3), 3.08e-8),
]


@pytest.mark.parametrize(("scheme", "fed", "eps"), JUMPS)
def test_a_path_that_jumps_is_solved_for_and_not_followed_elsewhere(
    scheme: Any, fed: ff.Federation, eps: float
) -> None:
    F, s = ff.frontier(fed, scheme, 20, budgets="common"), ff.solve(fed, scheme, eps)
    assert F.accuracy_at(s.disparity) >= s.accuracy - 1e-6


def test_a_steep_path_is_followed_to_where_its_difference_is_zero() -> None:
    F = ff.frontier(random_federation(0), "lft_ensemble", 20, budgets="common")
    assert F.disparity[0] == 0.0 and F.disparity.size == 20  # two from 0.02 on where it is missed


@pytest.mark.parametrize("seed", [25, 224, 333])
def test_what_is_best_just_before_a_jump_is_on_the_curve(seed: int) -> None:
    fed = Finite.random(np.random.default_rng([seed, 1])).build()
    F = ff.frontier(fed, "lft_ensemble", 8, budgets="common")
    breaks = np.unique(Segments.of(fed, Task.of(fed, "lft_ensemble")).eps)
    inside = 0.01 * breaks[:-1] + 0.99 * breaks[1:]
    for eps in [*breaks, *np.nextafter(breaks[1:], 0.0), *inside]:
        s = ff.solve(fed, "lft_ensemble", eps)
        assert F.accuracy_at(max(s.disparity, F.disparity[0])) >= s.accuracy - 1e-9


@pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning")
@pytest.mark.parametrize("scheme", LOCAL)
@pytest.mark.parametrize(("sites", "people"), [(20, 6), (120, 3)])
def test_many_small_sites(sites: int, people: int, scheme: Any) -> None:
    """Of a site whose disparity is one, but for its rounding, the rule jumps at a budget of one."""
    rng, n = np.random.default_rng(0), sites * people
    group, site = rng.integers(0, 2, n), rng.integers(0, sites, n)
    score = np.round(1 / (1 + np.exp(-(rng.normal(size=n) + 0.3 * group))), 3)
    fed = ff.Federation.from_samples(score, rng.random(n) < score, group, site, levels=20)
    F = ff.frontier(fed, scheme, 6, budgets="common")
    for eps in (0.0, 0.5, np.nextafter(1.0, 0.0), 1.0):
        s = ff.solve(fed, scheme, eps)
        assert F.accuracy_at(max(s.disparity, F.disparity[0])) >= s.accuracy - 1e-9


def test_budgets_on_a_steep_edge_are_on_the_path() -> None:
    """A budget moves by 2e-8 where a client flips a cell that it nearly never sees."""
    masses = [[[0.3, 0.2, 1e-8], [0.1, 0.4 - 1e-8, 0.0]], [[0.1, 0.1, 0.3], [0.2, 0.1, 0.2]]]
    fed = ff.Federation.finite(range(3), masses, [0.2, 0.9, 0.4])
    s = ff.solve(fed, "lft_ensemble", 0.4 - 6e-9)
    F = ff.frontier(fed, "lft_ensemble", 12, budgets="common")
    assert F.accuracy_at(s.disparity) == pytest.approx(s.accuracy, abs=1e-9)


@pytest.mark.parametrize("scheme", LOCAL)
def test_on_a_finite_x_disparities_are_met_without_a_root(
    scheme: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common_budget, "increasing_root", None)
    masses = [[[3, 2, 5], [1, 4, 5]], [[1, 1, 8], [2, 1, 7]]]
    fed = ff.Federation.finite(range(3), np.array(masses) / 20, [0.2, 0.9, 0.4])
    assert ff.frontier(fed, scheme, 12, budgets="common").disparity.size == 12


def test_thousands_of_breaks_are_not_all_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(0.0, 1.0, 80)
    means = np.array([[0.3, 0.5], [0.4, 0.7], [0.6, 0.45]])
    masses = np.exp(-0.5 * ((x - means[:, :, None]) / 0.25) ** 2)
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    complete = ff.frontier(
        fed := ff.Federation.finite(x, masses, x), "lft_fedavg", budgets="common"
    )
    monkeypatch.setattr(common_budget, "CELLS", 1)
    coarse = ff.frontier(fed, "lft_fedavg", 9, budgets="common")
    assert complete.exact and not coarse.exact
    accuracy = complete.accuracy_at(coarse.disparity)
    assert coarse.accuracy == pytest.approx(accuracy, abs=1e-5)
    assert (coarse.accuracy <= accuracy + 1e-9).all()
