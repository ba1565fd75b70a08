"""The knapsack of trade-offs against every split that there is."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.solvers.lft_ensemble import densities_tradeoff
from fairfl.solvers.lft_ensemble.densities_tradeoff import Knapsack

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
