"""People drawn anew and people held out: counts kept, intervals that hold known truths, rules
counted by hand.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairfl as ff
import fairfl.reports.sampling as sampling
from fairfl.reports.sampling import (
    bootstrap,
    counted,
    halves,
    held_out,
    interval,
    refitted,
    resampled,
)
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.classifiers import Classifier


def sample_of(seed, shape=(3, 2, 2, 4), most=6):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most, shape).astype(float)
    counts[:, :, 0, 0] += 1  # every client has both groups, but the first one
    counts[0, 1] = 0
    return Counted(np.arange(shape[-1], dtype=float), counts), rng


@given(st.integers(0, 10**6))
def test_clients_keep_their_size_and_their_groups(seed):
    sample, rng = sample_of(seed)
    drawn = resampled(sample.counts, rng)
    assert drawn.shape == sample.counts.shape and (drawn == np.round(drawn)).all()
    assert np.array_equal(drawn.sum(axis=(1, 2, 3)), sample.counts.sum(axis=(1, 2, 3)))
    assert np.array_equal(drawn.sum(axis=(2, 3)) > 0, sample.counts.sum(axis=(2, 3)) > 0)
    assert (drawn[sample.counts == 0] == 0).all()


@given(st.integers(0, 10**6))
def test_halves_are_everybody_once_and_even(seed):
    sample, rng = sample_of(seed)
    one, other = halves(sample.counts, rng)
    assert np.array_equal(one + other, sample.counts) and min(one.min(), other.min()) >= 0
    # within client, group and label
    assert np.abs(one.sum(axis=-1) - other.sum(axis=-1)).max() <= 1


@given(st.integers(0, 10**6))
def test_a_rule_is_counted_by_its_people(seed):
    sample, rng = sample_of(seed)
    accept = rng.integers(0, 2, (2, 4)).astype(float)
    right, by_group = 0.0, [[], []]
    for _, a, y, k in np.argwhere(sample.counts > 0):
        people = sample.counts[_, a, y, k]
        right += people * (accept[a, k] == y)
        by_group[a] += [accept[a, k]] * int(people)
    accuracy, disparity = counted(
        Classifier.on_points(sample.points, accept), sample.points, sample.counts
    )
    assert accuracy == pytest.approx(right / sample.people)
    assert disparity == pytest.approx(abs(np.mean(by_group[0]) - np.mean(by_group[1])))


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


def test_there_is_no_interval_of_few_draws_nor_beyond_shares():
    draws = np.full((30, 2), 0.01) * np.arange(30)[:, None] / 15
    draws[: 30 - sampling.FEWEST + 1, 1] = np.nan
    found = interval(np.array([0.01, 0.01]), draws)
    assert np.isnan(found[1]).all() and found[0, 0] == 0.0 < found[0, 1]


def test_bootstraps_are_counted_seeded_and_stopped(monkeypatch):
    sample, _ = sample_of(0, most=20)

    def measure(federation):
        return np.array([federation.base_rate])

    estimate = measure(refitted(sample, sample.counts))
    one, again, other = (bootstrap(sample, measure, estimate, 30, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.interval, again.interval) and not np.array_equal(
        one.interval, other.interval
    )
    assert (one.bootstraps, one.failed, one.seed) == (30, 0, 1) and one.reached.tolist() == [1.0]

    def uncertain(federation):
        if federation.base_rate > estimate[0]:
            raise ff.CertificationError("no solution certified")
        return measure(federation)

    failed = bootstrap(sample, uncertain, estimate, 60, 1)
    assert failed.failed > 0 and failed.bootstraps + failed.failed == 60
    monkeypatch.setattr(sampling, "SECONDS", 0.0)
    stopped = bootstrap(sample, measure, estimate, None, 1)
    assert stopped.bootstraps == 0 and np.isnan(stopped.interval).all()
    # what was asked for takes its time
    assert bootstrap(sample, measure, estimate, 30, 1).bootstraps == 30


def test_a_score_of_ones_own_is_worth_nothing_on_others():
    """Labels are coins, every person has a score: best on a half is far above 1/2 there, and 1/2 on
    the other.
    """
    rng = np.random.default_rng(0)
    counts = np.zeros((1, 2, 2, 400))
    counts[0, rng.integers(0, 2, 400), rng.integers(0, 2, 400), np.arange(400)] = 1

    def best(federation):
        free = ff.solve(federation, "cfl", np.inf).classifier
        return [free, Classifier.thresholds([-1.0, -1.0]), None]

    found = held_out(Counted(np.arange(400.0), counts, calibrate="client_group"), best, 0)
    assert (
        found is not None
        and found.splits == 2 * sampling.SPLITS
        and found.reached.tolist() == [1.0, 1.0, 0.0]
    )
    assert found.inside[0, 0] > 0.54 > found.outside[0, 0]
    everybody = counts[:, :, 1].sum() / 400
    assert found.inside[1].tolist() == pytest.approx([everybody, 0.0], abs=0.01)
    assert np.isnan(found.outside[2]).all()


def test_people_too_few_to_be_halved():
    counts = np.zeros((1, 2, 2, 2))
    counts[0, 0, :, :] = 5
    counts[0, 1, 1, 1] = 1
    sample = Counted(np.array([0.0, 1.0]), counts)
    assert held_out(sample, lambda half: [], 0) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # reversed: said where a table is read, not at every draw
        refitted(sample, sample.counts[..., ::-1])
