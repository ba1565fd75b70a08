"""What is said of three frontiers holds at every disparity, not at the drawn points alone."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairfl as ff
from fairfl.reports.comparison import compare, measured
from fairfl.reports.comparison_words import sentences
from fairfl.reports.rules import budgets
from fairfl.theory.populations.calibration import ScoreWarning


@pytest.fixture(autouse=True)
def coarse():
    """Not here: at how many disparities losses are sought is what is asked."""


@settings(max_examples=max(5, settings.default.max_examples // 5))  # type: ignore[union-attr]
@given(st.integers(0, 10**6), st.integers(2, 9))
def test_the_largest_loss_is_the_largest_at_any_disparity(seed, count):
    rng = np.random.default_rng(seed)
    n = 4
    masses = rng.dirichlet(np.ones(2 * n) * 0.4, 2).reshape(2, 2, n)
    comparison = compare(
        ff.Federation.finite(np.arange(n), masses, np.sort(rng.random(n))), count=count
    )
    best = comparison.reaches["cfl"].frontier
    top = max(float(reach.frontier.disparity[-1]) for reach in comparison.reaches.values())
    for reach in comparison.reaches.values():
        d = rng.uniform(reach.smallest, max(top, reach.smallest), 50)
        loss = best.accuracy_at(d) - reach.frontier.accuracy_at(d)
        # between two of the 60 disparities both accuracies move by less than CFL's does, which is
        # concave
        steep = np.diff(best.accuracy_at(np.linspace(0, top, 60))).max()
        assert loss.max() <= reach.loss + steep + 1e-9
        at = float(best.accuracy_at(reach.loss_at) - reach.frontier.accuracy_at(reach.loss_at))
        assert at == pytest.approx(reach.loss, abs=1e-12)


def test_what_is_measured_by_hand():
    """Values and disparities: fairest, at two disparities, best, at the largest loss, CFL there."""
    cfl = [(0.6, 0.0), (0.7, 0.1), (0.8, 0.2), (0.9, 0.4), (0.9, 0.4), (0.9, 0.4)]
    other = [(0.5, 0.1), (0.5, 0.1), (0.6, 0.2), (0.8, 0.3), (0.55, 0.2), (0.8, 0.2)]
    expected = [
        [0.0, 0.6, 0.9, 0.4, 0.0, 0.7, 0.8, 0.0, 0.0, 0.3],
        [0.1, 0.5, 0.8, 0.3, 0.25, 0.5, 0.6, 0.2, 0.2, 0.3],
    ]
    assert measured(np.array([cfl, other])) == pytest.approx(np.array(expected))


def test_what_is_not_proven_is_said_to_be_so():
    masses = np.array(
        [
            [[0.1, 0.1, 0.1, 0.4], [0.1, 0.1, 0.05, 0.05]],
            [[0.2, 0.1, 0.1, 0.1], [0.1, 0.1, 0.2, 0.1]],
        ]
    )
    comparison = compare(ff.Federation.finite(np.arange(4), masses, [0.1, 0.4, 0.6, 0.9]), count=5)
    for gap, standing in (
        (0.0, "the best"),
        (2.11e-5, "the best of a search, at most 0.003 points below the best"),
        (0.004, "the best of a search, at most 0.40 points below the best"),
        (0.01, "the best of a search, at most as much below the best"),
    ):
        curves = {
            scheme: dataclasses.replace(reach, gap=np.array([0.0, gap]), loss=0.01)
            for scheme, reach in comparison.reaches.items()
        }
        words = sentences(dataclasses.replace(comparison, reaches=curves))
        assert all(line.endswith(f". Its accuracies are {standing}.") for line in words[-4:])
        assert all("up to 1.00 points" in line for line in words[-4:])
        assert ["one budget" in line for line in words[-4:]] == [True, True, False, False]


@pytest.mark.parametrize(
    ("eps", "text"),
    [
        ([0.1, 0.1], "0.1"),
        ([0.1, 0.0, 1.0], "0.1, 0, none"),
        ([*np.linspace(0.0, 0.3, 21), 1.0], "0 to 0.3, none for 1"),
        (np.linspace(0.1, 0.3, 21), "0.1 to 0.3"),
    ],
)
def test_budgets_of_many_clients_are_a_range(eps, text):
    assert budgets(SimpleNamespace(eps=np.array(eps), local_eps=None)) == text
    both = SimpleNamespace(eps=np.array([0.05]), local_eps=np.array(eps))
    assert budgets(both) == f"0.05, local {text}"


def test_the_printed_rule_is_that_of_its_point():
    """Of these people's table ``solve`` takes another rule at the budgets of the smallest
    disparity, which is 0: one of 0.013.
    """
    north = [[26, 9, 9, 27, 8], [29, 7, 7, 16, 6]], [[19, 27, 20, 15, 2], [26, 27, 18, 22, 17]]
    south = [[17, 5, 22, 4, 26], [27, 21, 7, 21, 10]], [[9, 29, 29, 18, 27], [8, 7, 21, 21, 14]]
    people = np.array([north, south])
    with pytest.warns(ScoreWarning, match="smaller scores"):
        fed = ff.Federation.from_counts(people, np.arange(5), calibrate="shared")
    rule = compare(fed, at=[0.0], count=8).rules["lft_fedavg"].solution
    assert ff.solve(fed, "lft_fedavg", rule.eps).disparity > 0.01
    group_and_level = people.sum(axis=(0, 2))
    accepted = (group_and_level * rule.classifier.on(np.arange(5.0))).sum(axis=1)
    assert np.ptp(accepted / group_and_level.sum(axis=1)) == pytest.approx(0.0, abs=1e-9)
