"""LFT+FedAvg's frontier of many clients: no budgets beat it, and order does not matter."""

import resource
from typing import Any

import numpy as np
import pytest
from audit import random_budgets
from scipy.stats import norm
from tasks import beaten

import fairfl as ff
from fairfl.solvers.lft_fedavg.finite_exact import ExactFedAvg
from fairfl.solvers.lft_fedavg.finite_search import FedAvgSearch
from fairfl.solvers.numerics.highs import Programme
from fairfl.solvers.task import Task

TOLERANCE = 1e-9
"""What budgets may be better than the search by: README."""


def random_federation(seed: int, clients: int) -> ff.Federation:
    """Masses, η and weights: sparse, of integers, of many sizes; η in order or not, tied, own."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 20))
    x = np.arange(n)
    masses = [
        rng.gamma(0.5, size=(clients, 2, n)) + 1e-9,
        rng.gamma(1.0, size=(clients, 2, n)) * (rng.random((clients, 2, n)) < 0.6),
        rng.integers(0, 5, (clients, 2, n)).astype(float),
        rng.gamma(1.0, size=(clients, 2, n)) * 10.0 ** -rng.integers(0, 8, (clients, 2, n)),
        np.exp(-(((x - rng.uniform(0, n, (clients, 2, 1))) / rng.uniform(0.1, 0.5) / n) ** 2) / 2)
        + 1e-9,
    ][rng.integers(0, 5)]
    masses[:, :, 0] += masses.sum(axis=2) == 0
    share = rng.uniform(0.1, 0.9, clients)
    share[0] = rng.choice([0.0, 0.5, share[0]])  # now and then without one group
    masses *= (np.stack([1.0 - share, share], axis=1) / masses.sum(axis=2))[:, :, None]
    eta = [np.sort(rng.random(n)), rng.integers(0, 9, n) / 8, rng.random((clients, n))][
        rng.integers(0, 3)
    ]
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    return ff.Federation.finite(x, masses, eta, weight=rng.uniform(0.2, 2.0, clients))


def test_no_budgets_beat_the_frontier_of_six_sites() -> None:
    fed, rng = six_sites(2, seed=0, step=0.05), np.random.default_rng(0)
    F = ff.frontier(fed, "lft_fedavg", points=20)
    assert F.disparity.size == 20 and not F.unfilled.size
    drawn_eps = random_budgets(fed, 25, rng)
    assert beaten(fed, "lft_fedavg", {}, drawn_eps, 12) <= TOLERANCE


# lost 0.011 and 0.028 of accuracy with 60 starts, in whatever order of sites
@pytest.mark.parametrize(
    ("seed", "eps"),
    [(6, (0.69503, 0.03566, 0.13181, 0.73679)), (28, (1.0, 0.58903, 0.2554, 0.1502, 0.60621))],
)
@pytest.mark.every(2)
def test_steep_frontiers_of_people_of_several_groups(seed: int, eps: tuple[float, ...]) -> None:
    rng, n = np.random.default_rng(seed), 3000
    clients, groups = int(rng.integers(2, 7)), int(rng.integers(3, 6))
    site, group = rng.integers(0, clients, n), rng.integers(0, groups, n)
    middle = rng.normal(0.5, 0.15, (clients, groups))[site, group]
    score = rng.normal(middle, 0.2).clip(0.0, 1.0).round(1)
    label = (rng.random(n) < score).astype(int)
    fed = ff.Federation.from_samples(score, label, group, site, levels=0)
    s = ff.solve(fed, "lft_fedavg", eps)
    F = ff.frontier(fed, "lft_fedavg", 6)
    assert F.accuracy_at(s.disparity) >= s.accuracy - 1e-6


# degenerate starts once ended the third above the smallest disparity
@pytest.mark.parametrize(("seed", "clients"), [(8, 5), (103, 6), (8, 6)])
@pytest.mark.every(3)
def test_the_search_agrees_with_all_vertices(
    seed: int, clients: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed = random_federation(seed, clients)
    search = FedAvgSearch.of(fed, task := Task.of(fed, "lft_fedavg"))
    F = search.frontier(9)
    monkeypatch.setattr("fairfl.solvers.lft_fedavg.finite_exact.CLIENTS", clients)
    exact = ExactFedAvg.of(fed, task).frontier(9)
    assert exact.exact and not F.exact
    assert F.disparity[0] == pytest.approx(exact.disparity[0], abs=1e-11)
    d = np.maximum(exact.disparity, F.disparity[0])  # between the points of both
    assert F.accuracy_at(d) == pytest.approx(exact.accuracy_at(d), abs=1e-11)


def test_two_hundred_clients_take_little_memory() -> None:
    fed = random_federation(4, 200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    F = ff.frontier(fed, "lft_fedavg", points=4)
    assert F.disparity.size >= 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kB; it was 25 GB


def test_where_nobody_is_the_rule_is_what_the_multipliers_say_of_one_person() -> None:
    masses = np.array([[[0.1, 0.0, 0.4], [0.3, 0.0, 0.2]], [[0.25, 0.0, 0.25], [0.2, 0.0, 0.3]]])
    fed = ff.Federation.finite([0, 1, 2], masses, [0.1, 0.9, 0.7])
    for notion in ("dp", "eodds"):
        for sees in ("xa", "x"):
            s = ff.solve(fed, "lft_fedavg", 1.0, notion=notion, sees=sees)  # η = 0.9 > 1/2
            assert s.classifier(1.0, a=0) == s.classifier(1.0, a=1) == 1.0
    # one client: as CFL decides of one person
    alone = ff.Federation.finite([0, 1, 2], masses[:1], [0.1, 0.45, 0.7])
    for eps in (0.0, 0.05, 0.2, 1.0):
        ours, theirs = (ff.solve(alone, scheme, eps) for scheme in ("lft_fedavg", "cfl"))
        assert [ours.classifier(1.0, a) for a in (0, 1)] == [
            theirs.classifier(1.0, a) for a in (0, 1)
        ]


def six_sites(groups: int, seed: int = 1, step: float = 0.01) -> ff.Federation:
    """The ordinary case: people of six sites, levels of a score."""
    rng = np.random.default_rng(seed)
    site, count = rng.integers(0, 6, 20_000), 20_000
    shares = rng.dirichlet(np.full(groups, 3.0), 6).cumsum(axis=1)[site, :-1]
    group = (rng.random(count)[:, None] > shares).sum(axis=1)
    score = np.clip(rng.normal(rng.normal(0.5, 0.1, (6, groups))[site, group], 0.2), 0.0, 1.0)
    label = (rng.random(count) < score).astype(int)
    score = np.round(np.round(score / step) * step, 2)
    return ff.Federation.from_samples(score, label, group, site, levels=0)


@pytest.mark.parametrize(("groups", "points", "programmes"), [(2, 60, 1000), (3, 8, 2500)])
def test_six_sites_of_people_take_few_programmes(
    groups: int, points: int, programmes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved, best = [], Programme.best

    def counted(*arguments: Any, **options: Any) -> Any:
        solved.append(1)
        return best(*arguments, **options)

    monkeypatch.setattr(Programme, "best", counted)
    assert ff.frontier(six_sites(groups), "lft_fedavg", points).disparity.size > points / 2
    assert len(solved) <= programmes


def test_two_hundred_clients_with_no_budget_are_certified() -> None:
    n = 200
    rng = np.random.default_rng(4321)
    masses = rng.dirichlet(np.ones(n), size=n).reshape(n, 2, n // 2)
    eta, weight = np.sort(rng.random(n // 2)), rng.uniform(0.2, 1, n)
    fed = ff.Federation.finite(np.arange(n // 2), masses, eta, weight=weight)
    s = ff.solve(fed, "lft_fedavg", 0.0)
    assert abs(s.duality_gap) <= 1e-12 and s.local_disparities.max() <= 1e-12


def test_two_clients_under_equalised_odds_are_solved_on_every_grid() -> None:
    """The search of before began .0167 lower, and what it found depended on the number of cells."""
    rng = np.random.default_rng(8)
    mean, sd = rng.normal(0, 2, (2, 2)), rng.uniform(0.5, 2, (2, 2))
    q, edges = rng.uniform(0.2, 0.8, 2), np.linspace(-9, 9, 51)
    masses = np.diff(norm.cdf((edges - mean[..., None]) / sd[..., None]), axis=-1)
    masses *= (np.stack([q, 1 - q], axis=1) / masses.sum(axis=-1))[..., None]
    middle = (edges[1:] + edges[:-1]) / 2
    fed = ff.Federation.finite(middle, masses, 1 / (1 + np.exp(-middle)))
    F = ff.frontier(fed, "lft_fedavg", 12, notion="eodds")
    smallest = ff.min_disparity(fed, "lft_fedavg", notion="eodds")
    assert F.proven.all() and F.disparity[0] == smallest.disparity == 0.0
    assert F.accuracy[0] == pytest.approx(smallest.accuracy, abs=1e-12)
    assert F.accuracy[0] == pytest.approx(0.8540352660100, abs=1e-9)
