"""FedFB's frontiers: no classifier is above them, and their ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.fedfb_synthetic import (
    COVARIANCES,
    MEANS,
    chance_of_label,
    fedfb_synthetic,
)
from fairfl.sims.group_fairness import FairMeasures
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.fedfb import fedfb_runs, limits
from fairfl.studies.papers.fedfb.data import fedfb_data

DATA = fedfb_synthetic(rows=600, seed=3)
X, GROUP, Y = DATA.x[:, :2], DATA.group, DATA.y
FRONTIER = limits.exact_frontier(X, GROUP)


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
    assert FRONTIER.accuracy[-1] == pytest.approx(limits.expected_accuracy(bayes, X), abs=1e-12)
    assert FRONTIER.disparity[-1] == pytest.approx(FairMeasures.of(bayes, Y, GROUP).spd, abs=1e-12)
    assert FRONTIER.disparity[0] == pytest.approx(0, abs=1e-12)
    assert FRONTIER.accuracy[0] >= limits.expected_accuracy(np.ones(len(X)), X)


def test_limits_are_in_the_measures_of_the_tables():
    """At the free end: the Bayes rule's disparities among the test people."""
    data = fedfb_data("Synthetic")
    test = data.rows("test")
    bayes = chance_of_label(data.x[test, :2]) > 0.5
    measures = FairMeasures.of(bayes, data.y[test], data.group[test])
    assert limits.limit("Synthetic")[0][-1] == pytest.approx(measures.dp, abs=1e-12)
    assert limits.limit("Synthetic", "pairwise")[0][-1] == pytest.approx(measures.spd, abs=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_no_classifier_of_synthetic_people_is_above(seed):
    """Linear rules of x and a, η's thresholds moved by group, and randomised ones."""
    rng = np.random.default_rng(seed)
    inputs = np.column_stack([X, GROUP, np.ones(len(X))])
    rules = [
        inputs @ rng.normal(size=4) > 0,
        chance_of_label(X) > rng.random(2)[GROUP],
        rng.random(len(X)),
    ]
    for accept in rules:
        spd = FairMeasures.of(accept, Y, GROUP).spd
        assert limits.expected_accuracy(accept, X) <= limits.best_accuracy(FRONTIER, spd) + 1e-9


def test_trained_classifiers_are_below(monkeypatch):
    monkeypatch.setattr(fedfb_runs, "QUICK", 3)
    rows = run_units(fedfb_runs.family(Scale("quick", 1), ("Synthetic",)))
    test = rows[(rows["part"] == "test") & rows["best"].notna()]
    assert len(test) > 10
    assert (test["expected"] <= test["best"] + 1e-9).all()
    assert (test["best"] - test["expected"]).min() < 0.1  # and one of them is near it


def test_scored_people_are_the_test_people():
    rng = np.random.default_rng(0)
    n = 400
    group = rng.integers(0, 3, n)
    x = np.column_stack([rng.normal(size=(n, 3)), group])
    y = (x[:, 0] + rng.logistic(size=n) > 0).astype(int)
    part = np.where(np.arange(n) < 250, 0, 2).astype(np.int8)
    fed = limits.scored(FederatedData("d", x, y, rng.integers(0, 2, n), 2, part, group))
    np.testing.assert_allclose(
        fed.group_mass, np.bincount(group[part == 2]) / (part == 2).sum(), atol=1e-12
    )
    # isotonic fits keep the mean
    assert fed.base_rate == pytest.approx(y[part == 2].mean(), abs=1e-12)
