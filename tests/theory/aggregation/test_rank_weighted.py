"""Rank weights: the formulas, sorting and ties, mixtures of CVaRs, permutahedra, client weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairfl.theory.aggregation import RankWeighted

EXAMPLES = [*RankWeighted.examples(), RankWeighted.geometric(1 - 1e-12), RankWeighted.cvar(0.25)]


def slow(f, w):
    """sum_k w_k f_[k] and the canonical weights, one client at a time."""
    ranked = sorted(f, reverse=True)
    weights = []
    for x in f:
        ranks = [k for k, y in enumerate(ranked) if y == x]
        weights.append(sum(w[k] for k in ranks) / len(ranks))
    return sum(a * b for a, b in zip(w, ranked, strict=True)), weights


@given(data=st.data())
def test_against_the_slow_twin(data):
    objective = data.draw(st.sampled_from(EXAMPLES))
    n = data.draw(st.integers(1, 9))
    few = st.sampled_from(
        [0.0, -0.0, 1.0, 1.0 + 2**-52, 1.0 + 2**-50, -1.0, -1.0 - 2**-52, 1e300, -1e300, 5e-324]
    )
    f = data.draw(hnp.arrays(np.float64, (3, n), elements=st.one_of(few, st.floats(-2, 2))))
    w = objective.rank_weights(n)
    value, weights = objective.value_and_dual_weights(f)
    for row in range(3):
        expected, shares = slow(f[row].tolist(), w.tolist())
        scale = np.abs(f[row]).max()
        assert value[row] == pytest.approx(expected, rel=1e-13, abs=1e-15 * scale)
        assert objective.value(f[row]) == pytest.approx(expected, rel=1e-13, abs=1e-15 * scale)
        assert weights[row] == pytest.approx(shares, rel=1e-12)


def test_the_formulas():
    n = 6
    ascending = np.arange(1, n + 1)  # p-FFL counts from the smallest loss
    # eq. (4)
    assert RankWeighted.gini().rank_weights(n)[::-1] == pytest.approx((2 * ascending - 1) / n**2)
    assert RankWeighted.linear().rank_weights(n)[::-1] == pytest.approx(
        2 * ascending / (n * (n + 1))
    )
    raw = 0.5 + (ascending - 1) * 3.0  # eq. (7)
    assert RankWeighted.arithmetic(0.5, 3.0).rank_weights(n)[::-1] == pytest.approx(raw / raw.sum())
    z, k = 0.7, np.arange(n)  # eq. (8), k from 0, on descending losses
    assert RankWeighted.geometric(z).rank_weights(n) == pytest.approx(z**k * (z - 1) / (z**n - 1))
    raw = np.array([sum(1 / i for i in range(1, j + 1)) for j in ascending])  # eq. (9)
    assert RankWeighted.harmonic().rank_weights(n)[::-1] == pytest.approx(raw / raw.sum())
    assert raw.sum() == pytest.approx((n + 1) * raw[-1] - n)


def cvar(f, p, level):
    """min over t of t + sum p (f - t)+ / (1 - level), at a loss (Rockafellar, Uryasev)."""
    return min(t + p @ np.maximum(f - t, 0) / (1 - level) for t in f)


@pytest.mark.parametrize("level", [0.0, 0.1, 0.5, 0.73, 0.99])
def test_cvar_is_the_minimum_of_rockafellar_and_uryasev(level):
    rng = np.random.default_rng(21)
    for f in rng.normal(size=(50, 7)):
        p = rng.dirichlet(np.ones(7) * 3)
        assert RankWeighted.cvar(level).value(f) == pytest.approx(
            cvar(f, np.full(7, 1 / 7), level), abs=1e-13
        )
        assert RankWeighted.cvar(level).weighted(p).value(f) == pytest.approx(
            cvar(f, p, level), abs=1e-13
        )


def choquet(f, p, W):
    """The Choquet integral of f for the distorted probability W(p(S)), over the level sets."""
    levels = sorted(set(f.tolist()))
    total, below = levels[0], levels[0]
    for level in levels[1:]:
        total += (level - below) * W(p[f >= level].sum())
        below = level
    return total


@pytest.mark.parametrize("objective", RankWeighted.examples(), ids=repr)
def test_client_weights_distort_the_distribution(objective):
    rng = np.random.default_rng(25)
    n = 5
    p = rng.dirichlet(np.full(n, 3.0))
    heights = np.append(0, np.cumsum(objective.rank_weights(n)))
    W = {"cvar": lambda x: min(x / 0.3, 1.0)}.get(
        objective.profile, lambda x: np.interp(x, np.arange(n + 1) / n, heights)
    )
    f = np.concatenate([rng.normal(size=(40, n)), rng.integers(0, 3, (40, n))]).astype(float)
    value, weights = objective.weighted(p).value_and_dual_weights(f)
    assert value == pytest.approx(np.array([choquet(row, p, W) for row in f]), abs=1e-13)
    assert weights.sum(-1) == pytest.approx(np.ones(80))
    for row, w in zip(f, weights, strict=True):
        for level in row:  # tied clients share in proportion to p
            tied = row == level
            assert w[tied] == pytest.approx(w[tied].sum() * p[tied] / p[tied].sum(), abs=1e-15)
    even = objective.weighted(np.full(n, 1 / n))
    assert even.dual_weights(f) == pytest.approx(objective.dual_weights(f), abs=1e-15)
    assert even.traits == objective.traits
