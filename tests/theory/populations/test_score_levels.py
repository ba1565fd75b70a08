"""Scores merged into levels, against all ways to merge."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairfl.theory.numerics.isotonic import isotonic
from fairfl.theory.populations.score_levels import merge_levels, merge_scores


def cuts(n: int) -> Any:
    """All ways to cut n scores into levels, as codes."""
    for chosen in product((0, 1), repeat=n - 1):
        yield np.append(0, np.cumsum(chosen))


def brier(code: Any, eta: Any, counts: Any) -> float:
    mean = np.bincount(code, counts * eta) / np.bincount(code, counts)
    return float(counts @ (eta - mean[code]) ** 2)


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 4)), min_size=2, max_size=9),
    st.integers(1, 14),
)
@example([(1, 0)] * 9, 3)  # of equally good ways that of most levels
def test_merging_is_the_best_of_all_ways(rows: list[tuple[int, int]], smallest: int) -> None:
    counts = np.array([c for c, _ in rows], dtype=float)
    eta = isotonic(np.minimum(counts, [p for _, p in rows]), counts)
    code = merge_levels(eta, counts, smallest)
    assert code[0] == 0 and set(np.diff(code)) <= {0, 1} and code[-1] > 0
    enough = [c for c in cuts(len(eta)) if c[-1] > 0 and np.bincount(c, counts).min() >= smallest]
    allowed = enough or [c for c in cuts(len(eta)) if c[-1] == 1]
    losses = [brier(c, eta, counts) for c in allowed]
    assert any(np.array_equal(c, code) for c in allowed)
    assert brier(code, eta, counts) <= min(losses) + 1e-7
    as_good = [
        c[-1] for c, loss in zip(allowed, losses, strict=True) if loss <= min(losses) + 1e-12
    ]
    assert code[-1] == max(as_good)


def test_levels_keep_order_and_mean() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=500)
    label = (rng.random(500) < 1 / (1 + np.exp(-score))).astype(float)
    for level_count, top in ((20, 20), (3, 3), (1, 2), (None, 500 // 40)):
        levels, merged = merge_scores(score, label, 4, level_count)
        points, people = np.unique(levels, return_counts=True)
        assert 2 <= points.size <= top and (merged.scores, merged.levels) == (500, points.size)
        assert merged.people == people.min()
        assert level_count == 1 or people.min() >= 500 / (level_count or 500 / 40)
        assert (np.diff(levels[np.argsort(score)]) >= 0).all()
        assert levels.mean() == pytest.approx(score.mean(), abs=1e-12)
    same, merged = merge_scores(score, label, 4, 0)
    assert same is score and str(merged) == "500 distinct scores, none merged"
    few = np.repeat([0.0, 1.0, 2.0], [5, 490, 5])
    # no more scores than levels that were asked for
    assert merge_scores(few, (few > 1).astype(float), 4, 3)[0] is few
