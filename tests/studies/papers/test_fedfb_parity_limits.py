"""What client parity costs: levelled scores, and levelling down is a programme's optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairfl.studies.papers.fedfb.parity_limits import (
    LN2,
    best_by_group,
    best_threshold,
    entropy,
    levelled_margins,
    levelling_down,
    margin_loss,
)

RATES = st.lists(st.floats(0.51, 0.999), min_size=1, max_size=5)


@settings(max_examples=30)
@given(RATES, st.integers(0, 10**6))
def test_scores_with_these_margins_have_one_loss_and_the_decisions(rates, seed):
    """The mean log loss of the scores 1/2 ± t is the same at every client."""
    rng, n = np.random.default_rng(seed), 4000
    right = np.clip(np.rint(np.array(rates) * n), n // 2 + 1, n - 1) / n
    margins = levelled_margins(right)
    found = []
    for rate, margin in zip(right, margins, strict=True):
        y = rng.integers(0, 2, n)
        decision = np.where(np.arange(n) < round(rate * n), y, 1 - y)
        score = np.where(decision == 1, 0.5 + margin, 0.5 - margin)
        assert ((score > 0.5) == (decision == 1)).all()
        found.append(float(-np.log(np.where(y == 1, score, 1 - score)).mean()))
    np.testing.assert_allclose(found, entropy(right).max(), atol=1e-9)
    assert max(found) < LN2


@given(st.floats(0.501, 1.0), st.floats(1e-6, 1.0))
def test_losses_fall_from_log_2_to_the_entropy(rate, share):
    """On (0, r - 1/2] the loss takes all values between the two."""
    least = rate - 0.5
    at = float(margin_loss(rate, share * least))
    assert float(margin_loss(rate, least)) == pytest.approx(float(entropy(rate)), abs=1e-12)
    assert float(entropy(rate)) - 1e-12 <= at <= LN2 + 1e-12
    assert float(margin_loss(rate, 0.0)) == pytest.approx(LN2, abs=1e-12)


@settings(max_examples=40)
@given(
    st.lists(st.floats(0.5, 1.0), min_size=1, max_size=4),
    st.floats(0.0, 0.6),
    st.integers(0, 10**6),
)
def test_levelling_down_is_the_optimum(best, gap, seed):
    """Against the linear programme over rates in [1 - r*, r*] that are pairwise within the gap."""
    share = np.random.default_rng(seed).dirichlet(np.ones(len(best)))
    top, k = np.array(best), len(best)
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    rows = np.array([np.eye(k)[i] - np.eye(k)[j] for i, j in pairs]).reshape(len(pairs), k)
    limits = (rows, np.full(len(pairs), gap)) if pairs else (None, None)
    found = linprog(-share, *limits, bounds=list(zip(1 - top, top, strict=True)))
    assert float(levelling_down(share, top, [gap])[0]) == pytest.approx(-found.fun, abs=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_no_rule_is_above(seed, clients):
    """Random rules on people of known η: accuracy by the definition."""
    rng = np.random.default_rng(seed)
    eta = [rng.random(rng.integers(1, 6)) for _ in range(clients)]
    mass = [rng.dirichlet(np.ones(len(e))) for e in eta]
    share = rng.dirichlet(np.ones(clients))
    best = np.array([m @ np.maximum(e, 1 - e) for m, e in zip(mass, eta, strict=True)])
    rule = [np.where(rng.random(len(e)) < 0.5, e > 0.5, rng.random(len(e))) for e in eta]
    right = np.array(
        [m @ (f * e + (1 - f) * (1 - e)) for m, e, f in zip(mass, eta, rule, strict=True)]
    )
    assert share @ right <= levelling_down(share, best, [np.ptp(right)])[0] + 1e-12


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=1, max_size=12))
def test_best_threshold_by_trying_all(people):
    score, y = np.array(people).T
    tried = [np.mean((score > level) == y) for level in (-1, 0, 1, 2, 3, 4)]
    assert best_threshold(score, y) == pytest.approx(max(tried))


def test_synthetic_people():
    """The best accuracies: the Bayes rule's, 0.878, which figure 3(b) has."""
    share, best = best_by_group("Synthetic")
    assert share.sum() == pytest.approx(1)
    assert float(share @ best) == pytest.approx(0.8785, abs=5e-4)


def test_bad_input():
    with pytest.raises(ValueError, match="accuracy"):
        levelled_margins([0.5, 0.9])
    with pytest.raises(ValueError, match="accuracy"):
        levelled_margins([])
    with pytest.raises(ValueError, match="weights"):
        levelling_down([0.5, 0.4], [0.9, 0.9], [0.1])
    with pytest.raises(ValueError, match="best"):
        levelling_down([0.5, 0.5], [0.9, 0.4], [0.1])
    with pytest.raises(ValueError, match="disparity"):
        levelling_down([1.0], [0.9], [-0.1])
    with pytest.raises(ValueError, match="name"):
        best_by_group("Nowhere")
