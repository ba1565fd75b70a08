"""The knapsack of trade-offs against every split that there is."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfl.solvers.lft_ensemble import knapsack as allocation
from fairfl.solvers.lft_ensemble.knapsack import Knapsack

CURVES = st.lists(st.lists(st.integers(-8, 8), min_size=2, max_size=5), min_size=1, max_size=4)


@given(CURVES)
def test_splits_of_whole_cells_are_the_best(curves: list[list[int]]) -> None:
    # worth of 0, 1, 2, ... cells, and straight between: a grid of whole cells holds every vertex
    gains = [np.arange(len(c), dtype=float) for c in curves]
    worth = [np.array(c, dtype=float) for c in curves]
    total = int(sum(f[-1] for f in gains))
    goals = np.arange(total + 1, dtype=float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allocation, "CELLS", total)
        patch.setattr(allocation, "CELLS_PER_CLIENT", 0)
        knapsack = Knapsack(gains, worth, np.ones(len(curves)))
        cells = knapsack.split(np.stack([goals, goals], axis=1))
        ranges = knapsack.split(np.stack([np.zeros_like(goals), goals], axis=1))
    best_worth = np.empty(goals.size)
    for p, goal in enumerate(goals):
        splits = [s for s in itertools.product(*(range(len(c)) for c in curves)) if sum(s) == goal]
        best = max(sum(a[k] for a, k in zip(worth, s, strict=True)) for s in splits)
        split = cells[:, p]
        assert split.sum() == goal and all(
            f[0] <= g <= f[-1] for g, f in zip(split, gains, strict=True)
        )
        assert (
            sum(float(np.interp(g, f, a)) for g, f, a in zip(split, gains, worth, strict=True))
            == best
        )
        best_worth[p] = best
        within = sum(
            float(np.interp(g, f, a)) for g, f, a in zip(ranges[:, p], gains, worth, strict=True)
        )
        assert ranges[:, p].sum() <= goal and within == best_worth[: p + 1].max()


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from([0.0, 30.0]))
def test_concave_curves_meet_at_one_slope(seed: int, count: int, steep: float) -> None:
    # a_j(f) = -c_j (f - p_j)²: the best split has slopes c_j (p_j - f_j) in common, where no end
    # binds; what all curves gain by the unit, however much, moves no split of a given total
    rng = np.random.default_rng(seed)
    c, p, w = rng.uniform(0.5, 2, count), rng.uniform(0.4, 0.6, count), rng.uniform(0.5, 2, count)
    gains = [np.linspace(0, 1, 400)] * count
    worth = [steep * f - cj * (f - pj) ** 2 for cj, pj, f in zip(c, p, gains, strict=True)]
    goal = float(w @ p) + 0.05
    knapsack = Knapsack(gains, worth, w)
    shares = knapsack.split(np.array([[goal, goal]]))[:, 0]
    assert w @ shares == pytest.approx(goal, abs=count * w.sum() / allocation.CELLS)
    # w_j a_j'(f_j)/w_j = μ: by hand, f_j = p_j + μ/c_j with Σ w_j μ/c_j = 0.05
    mu = 0.05 / float((w / c).sum())
    np.testing.assert_allclose(
        shares, p + mu / c, atol=2 * count * w.sum() / w.min() / allocation.CELLS
    )


def test_curves_of_one_point_give_what_they_have() -> None:
    goals = np.array([[0.0, 0.0], [1.0, 1.0]])
    knapsack = Knapsack([np.array([0.25])], [np.array([1.0])], np.ones(1))
    assert knapsack.split(goals).tolist() == [[0.25, 0.25]]
