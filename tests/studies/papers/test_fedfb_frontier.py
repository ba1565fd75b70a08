"""The frontier behind FedFB's synthetic points: no classifier is above it, and its ends are what
they must be.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairfl.sims.data.federated.fedfb_synthetic import (
    COVARIANCES,
    MEANS,
    chance_of_label,
    fedfb_synthetic,
)
from fairfl.sims.group_fairness import FairMeasures
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.fedfb import runs as fedfb_runs
from fairfl.studies.papers.fedfb.frontier import best_accuracy, exact_frontier, expected_accuracy

DATA = fedfb_synthetic(rows=600, seed=3)
X, GROUP, Y = DATA.x[:, :2], DATA.group, DATA.y
FRONTIER = exact_frontier(X, GROUP)


def test_label_by_bayes():
    p = [
        stats.multivariate_normal(m, c).pdf(X[:20]) for m, c in zip(MEANS, COVARIANCES, strict=True)
    ]
    np.testing.assert_allclose(
        chance_of_label(X[:20]), 0.6 * p[1] / (0.6 * p[1] + 0.4 * p[0]), rtol=1e-10
    )


def test_ends():
    """The most accurate classifier is Bayes', and parity is reached by a constant at least."""
    bayes = chance_of_label(X) > 0.5
    assert FRONTIER.accuracy[-1] == pytest.approx(expected_accuracy(bayes, X), abs=1e-12)
    assert FRONTIER.disparity[-1] == pytest.approx(FairMeasures.of(bayes, Y, GROUP).spd, abs=1e-12)
    assert FRONTIER.disparity[0] == pytest.approx(0, abs=1e-12)
    assert FRONTIER.accuracy[0] >= expected_accuracy(np.ones(len(X)), X)


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_no_classifier_is_above(seed):
    """Linear rules of x and a, rules that know η and move its threshold by group, and randomised
    ones.
    """
    rng = np.random.default_rng(seed)
    inputs = np.column_stack([X, GROUP, np.ones(len(X))])
    rules = [
        inputs @ rng.normal(size=4) > 0,
        chance_of_label(X) > rng.random(2)[GROUP],
        rng.random(len(X)),
    ]
    for accept in rules:
        spd = FairMeasures.of(accept, Y, GROUP).spd
        assert expected_accuracy(accept, X) <= best_accuracy(FRONTIER, spd) + 1e-9


def test_trained_classifiers_are_below(monkeypatch):
    monkeypatch.setattr(fedfb_runs, "QUICK", 3)
    rows = run_units(fedfb_runs.family(Scale("quick", 1), ("Synthetic",)))
    test = rows[(rows["part"] == "test") & rows["best"].notna()]
    assert len(test) > 10
    assert (test["expected"] <= test["best"] + 1e-9).all()
    assert (test["best"] - test["expected"]).min() < 0.1  # and one of them is near it
