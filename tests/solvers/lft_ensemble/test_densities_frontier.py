"""LFT+Ensemble's frontier where q or η differ: trade-offs, their splits, points off them."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from populations import continuous_model
from scipy import optimize

import fairfl as ff
from fairfl.solvers.lft_ensemble import densities_tradeoff
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve
from fairfl.solvers.lft_ensemble.densities_tradeoff import Knapsack
from fairfl.theory.populations.eta import Logistic

STEEPEST = 10.0
"""No client loses more accuracy for a unit of MD, in the federations here that are bounded."""


def curve_of(fed: ff.Federation) -> EnsembleCurve:
    return EnsembleCurve(fed, continuous_model(fed))


def two_clients(seed: int, differ: bool) -> ff.Federation:
    """Laws narrow and wide, groups rare and common: many trade-offs with convex stretches."""
    rng = np.random.default_rng(seed)
    mean, q = rng.normal(scale=3, size=(2, 2)), rng.choice([0.02, 0.1, 0.5, 0.9, 0.98], 2)
    sd, weight = rng.choice([0.2, 1.0, 4.0], (2, 2)), rng.uniform(0.3, 2, 2)
    eta = [Logistic(rng.uniform(0.5, 3), rng.normal()) for _ in range(2)] if differ else None
    return ff.Federation.normal(mean, sd=sd, q=q, weight=weight, eta=eta)


def dual_bound(curve: EnsembleCurve, disparity: float) -> float:
    """min over κ >= 0 of Σ w max(A - κ MD) + κ·disparity, MD of the peak's sign."""
    table, sign = curve.tradeoffs, np.sign(curve.at(curve.peak)[0][0])

    def dual(kappa: float) -> float:
        best = (table.accuracy - kappa * sign * table.md).max(axis=1)
        return float(table.weight @ best) + kappa * disparity

    minimum = optimize.minimize_scalar(
        dual, bounds=(0.0, STEEPEST), method="bounded", options={"xatol": 1e-13}
    )
    return min(float(minimum.fun), dual(0.0))


def two_wide(seed: int, differ: bool) -> ff.Federation:
    """Two clients with sd from 0.05 to 50."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(scale=rng.choice([1, 2, 4]), size=(2, 2))
    sd = np.exp(rng.uniform(np.log(0.05), np.log(50), (2, 2)))
    etas = [Logistic(float(rng.uniform(0.4, 3)), float(rng.normal())) for _ in range(4)]
    eta = [(etas[0], etas[1]), (etas[2], etas[3])] if differ else None
    return ff.Federation.normal(
        mean, sd=sd, q=rng.uniform(0.02, 0.98, 2), weight=rng.uniform(0.3, 2, 2), eta=eta
    )


def test_the_other_side_of_zero() -> None:
    # the most accurate ensemble has MD of one sign; from disparity 1e-2 on the best are found on
    # the other side
    eta = [Logistic(2.33, 0.29), Logistic(0.45, -1.65)]
    fed = ff.Federation.normal(
        [[0.58, -2.29], [2.71, 1.2]], sd=[[2.12, 0.82], [0.68, 2.11]], q=0.67, eta=eta
    )
    F = ff.frontier(fed, "lft_ensemble", points=20)
    disparities = np.append(1e-6, np.linspace(0.001, F.disparity[-1], 30))
    assert (np.diff([float(F.accuracy_at(d)) for d in disparities]) >= 0).all()
    s = ff.solve(fed, "lft_ensemble", [0.12, 0.0])
    assert F.accuracy_at(s.disparity) >= s.accuracy
    md = [ff.solve(fed, "lft_ensemble", eps).mean_difference for eps in F.eps[F.disparity > 0]]
    assert min(md) < 0 < max(md)


def check_pairs(fed: ff.Federation) -> None:
    """Both sides of MD = 0 and all between: the best of all pairs of nodes with |MD| <= d."""
    curve = curve_of(fed)
    w, md, accuracy = fed.weight, curve.tradeoffs.md, curve.tradeoffs.accuracy
    total = np.abs(w[0] * md[0][:, None] + w[1] * md[1][None]).ravel()
    value = (w[0] * accuracy[0][:, None] + w[1] * accuracy[1][None]).ravel()
    F = ff.frontier(fed, "lft_ensemble", points=12)
    disparities = np.linspace(F.disparity[0], F.disparity[-1], 25)
    best = np.array([value[total <= d].max(initial=-np.inf) for d in disparities])
    assert (F.accuracy_at(disparities) >= best - 1e-7).all()
    assert total.min() >= F.disparity[0] - 1e-12
    if curve.moves.all():
        # the nodes' maximum misses the curves' by the square of half a node's step
        bound = [dual_bound(curve, d) for d in F.disparity[1:-1]]
        assert (F.accuracy[1:-1] <= np.array(bound) + 1e-5).all()


# most accurate with client 0 or 1 wholly free, or wholly fair: κ at such an end is not that of the
# others
@pytest.mark.parametrize("seed", [48, 52, 187674, 448544, 654763])
def test_splits_with_a_client_at_an_end(seed: int) -> None:
    check_pairs(two_clients(seed, differ=True))


@pytest.mark.parametrize("differ", [False, True], ids=["unequal q", "unequal q and eta"])
@settings(max_examples=4)
@given(st.integers(0, 10**6))
@example(22)
@example(70)
def test_no_pair_of_rules_within_a_disparity_is_better(differ: bool, seed: int) -> None:
    check_pairs(two_clients(seed, differ) if seed % 2 else two_wide(seed, differ))


def test_budgets_that_no_double_reaches_say_so() -> None:
    # client 0's MD is 1 - 1e-33 for all multipliers that matter: no double is a budget for one of
    # them
    fed = ff.Federation.normal([[-12, 12], [3, 0]], sd=1, q=0.5, weight=[1, 2])
    m = ff.min_disparity(fed, "lft_ensemble", certify=True)
    assert m.disparity == m.lower == m.upper == 0.0
    assert not m.reproduced and m.multipliers is not None
    # what the multipliers give, as far as doubles go
    md, reached = curve_of(fed).at(np.arctanh(m.multipliers / 0.5)[:, None])
    assert (abs(float(md[0])), float(reached[0])) == pytest.approx((0.0, m.accuracy), abs=1e-7)


def test_a_client_of_one_group_moves_the_pooled_share() -> None:
    # the two bound clients share q = 1/2, the pooled share is 0.8: their common trade-off need not
    # be concave
    mean, sd = [[2, -1], [-2, 3], [0, 1]], [[0.3, 1], [2, 0.5], [1, 4]]
    fed = ff.Federation.normal(mean, sd, q=[0.5, 0.5, 1], weight=[1, 1, 3])
    curve = curve_of(fed)
    assert not curve.exact
    F = ff.frontier(fed, "lft_ensemble", points=12)
    shares = np.array(np.meshgrid(*[np.append(np.linspace(0, 1, 60) ** 2, 1.0)] * 2))
    u = curve.fair * np.pad(shares.reshape(2, -1), ((0, 1), (0, 0)))
    md, accuracy = curve.at(u)
    assert np.abs(md).min() >= F.disparity[0] - 1e-12
    disparities = np.linspace(F.disparity[0], F.disparity[-1], 25)
    best = np.array([accuracy[np.abs(md) <= d].max(initial=-np.inf) for d in disparities])
    assert (F.accuracy_at(disparities) >= best - 1e-9).all()


CONVEX = 1059
"""A seed of ``two_clients`` where both trade-offs are convex in part."""


def test_points_below_the_dual_bound_are_the_best_and_attained() -> None:
    fed = two_clients(CONVEX, differ=False)
    check_pairs(fed)
    curve, F = curve_of(fed), ff.frontier(fed, "lft_ensemble", points=40)
    pairs = zip(F.disparity, F.accuracy, strict=True)
    assert max(dual_bound(curve, d) - a for d, a in pairs) > 5e-3
    for d, eps, accuracy in zip(F.disparity, F.eps, F.accuracy, strict=True):
        s = ff.solve(fed, "lft_ensemble", eps)
        assert (s.disparity, s.accuracy) == pytest.approx((d, accuracy), abs=1e-9)


# seeds whose trade-offs are concave
@pytest.mark.parametrize("seed", [0, 4, 5, 7])
def test_concave_trade_offs_are_solved_to_the_dual_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    eta = [Logistic(rng.uniform(0.5, 2), rng.normal()) for _ in range(3)]
    fed = ff.Federation.normal(rng.normal(size=(3, 2)), q=rng.uniform(0.3, 0.7, 3), eta=eta)
    curve = curve_of(fed)
    F = ff.frontier(fed, "lft_ensemble", points=9)
    # the nodes' maximum misses the curves' by the square of half a node's step
    bound = [dual_bound(curve, d) for d in F.disparity]
    np.testing.assert_allclose(F.accuracy, bound, rtol=0, atol=1e-5)
    d = np.linspace(F.disparity[0], F.disparity[-1], 5)[1:-1]
    u = curve.best(d)
    assert np.abs(curve.at(u)[0]) == pytest.approx(d, abs=1e-12)
    assert curve.at(u)[1] == pytest.approx(F.accuracy_at(d), abs=1e-11)
    # moving a little fairness from one client to another never helps
    for _ in range(8):
        moved = np.clip(u + 1e-3 * rng.normal(size=(3, 1)), *curve.ends)
        md, accuracy = curve.at(moved)
        allowed = F.accuracy_at(np.clip(np.abs(md), F.disparity[0], F.disparity[-1]))
        assert (accuracy <= allowed + 1e-10).all()


@pytest.mark.parametrize("count", [5, 60])
def test_many_clients_reach_the_dual_bound(count: int) -> None:
    rng = np.random.default_rng(count)
    fed = ff.Federation.normal(
        rng.normal(scale=2, size=(count, 2)),
        q=rng.uniform(0.1, 0.9, count),
        weight=rng.uniform(0.5, 2, count),
    )
    curve, F = curve_of(fed), ff.frontier(fed, "lft_ensemble", points=6)
    bound = [dual_bound(curve, d) for d in F.disparity]
    np.testing.assert_allclose(F.accuracy, bound, rtol=0, atol=1e-6)
    fairest = ff.min_disparity(fed, "lft_ensemble")
    assert fairest.disparity <= F.disparity[0] + 1e-12 and fairest.accuracy >= F.accuracy[0] - 1e-9


def test_clients_that_share_q_are_one_family() -> None:
    # the pooled share is their sum, off by roundings
    mean = np.random.default_rng(3).normal(size=(1000, 2))
    assert curve_of(ff.Federation.normal(mean, q=0.4)).exact
    assert not curve_of(ff.Federation.normal(mean, q=np.r_[0.5, np.full(999, 0.4)])).exact


CURVES = st.lists(st.lists(st.integers(-8, 8), min_size=2, max_size=5), min_size=1, max_size=4)


@given(CURVES)
def test_splits_of_whole_cells_are_the_best(curves: list[list[int]]) -> None:
    # worth of 0, 1, 2, ... cells, and straight between: a grid of whole cells holds every vertex
    gains = [np.arange(len(c), dtype=float) for c in curves]
    worth = [np.array(c, dtype=float) for c in curves]
    total = int(sum(f[-1] for f in gains))
    goals = np.arange(total + 1, dtype=float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(densities_tradeoff, "CELLS", total)
        patch.setattr(densities_tradeoff, "CELLS_PER_CLIENT", 0)
        knapsack = Knapsack(gains, worth, np.ones(len(curves)))
        cells = knapsack.split(np.stack([goals, goals], axis=1))
        ranges = knapsack.split(np.stack([np.zeros_like(goals), goals], axis=1))

    def worth_of(split):
        return sum(float(np.interp(*one)) for one in zip(split, gains, worth, strict=True))

    best = np.full(goals.size, -np.inf)
    for split in itertools.product(*(range(len(c)) for c in curves)):
        best[sum(split)] = max(best[sum(split)], worth_of(split))
    for p, goal in enumerate(goals):
        assert cells[:, p].sum() == goal and worth_of(cells[:, p]) == best[p]
        assert all(f[0] <= g <= f[-1] for g, f in zip(cells[:, p], gains, strict=True))
        assert ranges[:, p].sum() <= goal and worth_of(ranges[:, p]) == best[: p + 1].max()
