"""Intervals from people drawn anew, and the best rule's disparity and optimism."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl.reports.bootstrap import bootstrapped, interval
from fairfl.reports.question import PLAIN
from fairfl.reports.sampling import refitted
from fairfl.theory.populations.calibration import Counted


def test_intervals_hold_a_mean_and_undo_a_bias():
    """Shares of 400 people: intervals hold the truth 95 times in 100; so do they where all is
    biased by .03, by which quantiles alone miss it every fourth time or more often.
    """
    rng = np.random.default_rng(0)
    truth, people, tables = 0.3, 400, 400
    share = rng.binomial(people, truth, tables) / people
    draws = rng.binomial(people, share, (200, tables)) / people
    for bias in (0.0, 0.03):
        low, high = interval(share + bias, draws + 2 * bias).T
        assert ((low <= truth) & (truth <= high)).mean() > 0.91
        sd = np.sqrt(truth * (1 - truth) / people)
        assert (high - low).mean() == pytest.approx(2 * 1.96 * sd + 2 * bias, rel=0.08)
    low, high = np.quantile(draws + 2 * 0.03, [0.025, 0.975], axis=0)
    assert ((low <= truth) & (truth <= high)).mean() < 0.75


def test_the_best_rules_disparity_may_be_that_of_any_tie():
    """Two levels at 1/2, one of them in either group only: of the best rules one has no disparity,
    found by trying those with shares 0, 1/4, ..., 1 of both; no draw has it.
    """
    counts = np.zeros((1, 2, 2, 4))
    counts[0, :, :, 0], counts[0, :, :, 3] = [[80, 20], [80, 20]], [[10, 40], [10, 40]]
    counts[0, 0, :, 1], counts[0, 1, :, 2] = 50, 25
    fed = refitted(sample := Counted(np.arange(4.0), counts), counts)
    draws, least, *_ = bootstrapped(sample, PLAIN, 100, 0)
    people = counts[0].sum(axis=1)
    rates = [
        (people[a, 3] + np.linspace(0, 1, 5) * people[a, a + 1]) / people[a].sum() for a in (0, 1)
    ]
    tried = np.abs(np.subtract.outer(*rates)).min()
    assert least == pytest.approx(tried, abs=0.02) and least < draws.min()
    # the best of many tables is so much better than that of their law, whose ties are the same
    tables = np.random.default_rng(0).multinomial(counts.sum(), counts.ravel() / counts.sum(), 4000)
    by_level = tables.reshape(-1, 2, 2, 4).sum(axis=1).max(axis=1).sum(axis=1) / counts.sum()
    truth = counts.sum(axis=(0, 1)).max(axis=0).sum() / counts.sum()
    optimism = bootstrapped(replace(sample, calibrate="group"), PLAIN, 100, 0).optimism
    assert optimism == pytest.approx(by_level.mean() - truth, rel=0.15)
    assert fed.n_groups == 2


def test_a_rate_of_nobody_has_no_difference():
    """All have y = 1: of equalised odds the false-positive rates do not exist."""
    counts = np.zeros((1, 2, 2, 2))
    counts[0, :, 1] = 5
    odds = replace(PLAIN, notion="equalized_odds")
    assert bootstrapped(Counted(np.arange(2.0), counts), odds, 20, 0).tied == 0
