"""Standard errors, rules on people they were not fitted to, and people drawn anew."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairfl as ff
import fairfl.reports.sampling as sampling
from fairfl.reports.bootstrap import bootstrapped, resampled
from fairfl.reports.comparison import Spread, compare
from fairfl.reports.comparison_intervals import _spots, with_intervals
from fairfl.reports.comparison_words import _too_few
from fairfl.reports.question import PLAIN
from fairfl.reports.sampling import (
    Spot,
    corrected,
    crossed,
    folds,
    halved,
    influences,
    noise_errors,
    refitted,
    standard_errors,
)
from fairfl.sims.data.joined_summaries import joined
from fairfl.sims.data.summary import Summary
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.count_people import count_people


def sample_of(seed, shape=(3, 2, 2, 4), top=6):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, top, shape).astype(float)
    counts[:, :, 0, 0] += 1  # every client has both groups, but the first one
    counts[0, 1] = 0
    return Counted(np.arange(shape[-1], dtype=float), counts), rng


@given(st.integers(0, 10**6))
def test_clients_keep_their_size_and_their_groups(seed):
    sample, rng = sample_of(seed)
    counts = resampled(sample.counts, rng)
    assert counts.shape == sample.counts.shape and (counts == np.round(counts)).all()
    assert np.array_equal(counts.sum(axis=(1, 2, 3)), sample.counts.sum(axis=(1, 2, 3)))
    assert np.array_equal(counts.sum(axis=(2, 3)) > 0, sample.counts.sum(axis=(2, 3)) > 0)
    assert (counts[sample.counts == 0] == 0).all()


@given(st.integers(0, 10**6))
def test_folds_are_everybody_once_and_even(seed):
    sample, rng = sample_of(seed)
    parts = folds(sample.counts, rng)
    assert np.array_equal(parts.sum(axis=0), sample.counts) and parts.min() >= 0
    # within client, group and label
    assert np.ptp(parts.sum(axis=-1), axis=0).max() <= 1


def test_a_score_of_ones_own_is_worth_nothing_on_others():
    """Labels are coins, every person has a score: four fifths are fitted; the others are at 1/2."""
    rng = np.random.default_rng(0)
    counts = np.zeros((1, 2, 2, 400))
    counts[0, rng.integers(0, 2, 400), rng.integers(0, 2, 400), np.arange(400)] = 1
    sample = Counted(np.arange(400.0), counts, calibrate="client_group")
    judgements = crossed(sample, folds(counts, rng), [Spot("cfl", np.array([np.inf]))], PLAIN)
    assert judgements is not None
    outside, inside = judgements
    assert inside[0, 0].mean() > 0.535 > 0.515 > outside[0, 0], outside


def test_people_too_few_to_be_dealt_into_parts():
    counts = np.zeros((1, 2, 2, 2))
    counts[0, 0, :, :] = 5
    counts[0, 1, 1, 1] = 1
    sample = Counted(np.array([0.0, 1.0]), counts)
    assert crossed(sample, folds(counts, np.random.default_rng(0)), [], PLAIN) is None
    rare = np.array([[[[9.0, 9.0], [1.0, 0.0]], [[9.0, 9.0], [0.0, 0.0]]]])  # one person with y = 1
    sample, balanced = Counted(sample.points, rare), replace(PLAIN, costs="balanced")
    assert crossed(sample, folds(rare, np.random.default_rng(0)), [], balanced) is None
    disparities = bootstrapped(sample, balanced, 20, 0).disparities
    assert np.isfinite(disparities).all() and 0.0 in disparities
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # reversed: said where a table is read, not at every draw
        refitted(sample, sample.counts[..., ::-1])


def spread_of(comparison, fed, sample, draws=20):
    """What sampling does to a comparison."""
    spread = with_intervals(comparison, fed, sample, bootstraps=draws, seed=0).spread
    assert spread is not None
    return spread


def law(seed, people=1500, levels: int | None = 8):
    """People of two sites whose favoured groups differ, and their federation."""
    rng = np.random.default_rng(seed)
    site = np.arange(people) % 2
    group = (rng.random(people) < np.where(site == 0, 0.3, 0.7)).astype(int)
    skill = rng.normal(np.array([[0.8, 1.6], [-0.2, -1.2]])[site, group], 1.0)
    label = (rng.random(people) < 1 / (1 + np.exp(-skill))).astype(int)
    sample = count_people((1 / (1 + np.exp(-skill))).round(2), label, group, site, levels=levels)
    return sample, refitted(sample, sample.counts)


def test_standard_errors_are_those_of_the_bootstrap():
    """The slow twin: everything computed anew of people drawn anew. Of numbers that are optima the
    derivative alone tells the spread; with what it leaves out no spread is missed.
    """
    sample, fed = law(0)
    at, rng = (0.1, 0.25), np.random.default_rng(1)

    def numbers(fed):
        cfl, fedavg = (ff.frontier(fed, scheme, 2) for scheme in ("cfl", "lft_fedavg"))
        ends = cfl.accuracy[[0, -1]], fedavg.disparity[:1]
        return np.concatenate([*ends, cfl.accuracy_at(at), [fedavg.accuracy_at(0.25)]])

    draws = [numbers(refitted(sample, resampled(sample.counts, rng))) for _ in range(40)]
    spread = np.std(draws, axis=0)
    spread[2] = np.sqrt(np.mean(np.square(draws)[:, 2]))  # FedAvg's smallest disparity is zero
    comparison = compare(fed, at=at, count=3)
    between = spread_of(comparison, fed, sample).interval
    half = np.diff(between, axis=-1)[..., 0] / 2 / sampling.NORMAL
    half = np.array([*half[0, [1, 2]], 2 * half[3, 0], *half[0, [5, 6]], half[3, 6]])
    assert (half > 0.8 * spread).all() and (half < 2.0 * spread).all(), half / spread
    low, high = np.moveaxis(comparison.bounds, -1, 0)[..., None]
    assert np.array_equal(np.clip(between, low, high), between, equal_nan=True)
    assert between[0, 7:9].tolist() == [[0, 0], [0, 0]]  # CFL is not below itself


def test_derivatives_of_neighbours_replace_one_that_holds_for_very_few_people():
    """Four sites at one budget: at a disparity of 0.12 the derivative holds for such small changes
    that its standard error is 4.7 times the bootstrap's; that of the neighbours' mean is as large.
    """
    rng = np.random.default_rng(24)
    site = np.minimum(np.searchsorted([0.6, 0.9, 0.985], rng.random(3000)), 3)
    group = (rng.random(3000) < np.array([0.3, 0.7, 0.5, 0.4])[site]).astype(int)
    means = np.array([[0.8, 1.6], [-0.2, -1.2], [1.0, 0.0], [0.0, 1.0]])
    chance = 1 / (1 + np.exp(-rng.normal(means[site, group], 1.0)))
    label = (rng.random(3000) < chance).astype(int)
    sample = count_people(chance.round(2), label, group, site, levels=12)
    fed, scheme = refitted(sample, sample.counts), "lft_fedavg_common"
    comparison = compare(fed, at=[0.12], count=3)
    spots, place = _spots(comparison, sample)
    spot = spots[place[list(comparison.reaches).index(scheme), 1]]
    alone = influences(fed, sample, [spot._replace(neighbours=())], PLAIN)[0]
    plain, mean = (
        standard_errors(influence[0, 0], sample)
        for influence in (alone, influences(fed, sample, [spot], PLAIN)[0])
    )
    draws = []
    for _ in range(25):
        refit = refitted(sample, resampled(sample.counts, rng))
        curve = ff.frontier(refit, "lft_fedavg", 2, budgets="common")
        draws.append(curve.accuracy_at(max(0.12, curve.disparity[0])))
    assert plain > 3 * np.std(draws) and 0.5 < mean / np.std(draws) < 1.5, (plain, mean)


def test_other_budgets_may_reach_the_smallest_disparity():
    """At one budget for all, this law's ensemble has nearly its smallest disparity at budgets whose
    rules are 1.2 points better. This table takes those for the smallest, and its interval of the
    loss holds the truth all the same.
    """
    column, truth = 4, compare(law(10**6, 400_000, levels=0)[1], at=[0.3], count=8)
    sample, fed = law(2, 4000, levels=None)
    comparison = compare(fed, at=[0.3], count=8)
    low, high = spread_of(comparison, fed, sample).interval[2, column]
    assert comparison.numbers[2, column] < 0.002 < 0.012 < truth.numbers[2, column]
    assert low <= truth.numbers[2, column] <= high


def summarised(sample, change):
    """The federation and the people of sites' files, changed before they are written."""
    n = sample.points.size
    edges, names = tuple(np.linspace(0, 1, n + 1)), ("0", "1")
    whole = [
        Summary(f"site {i}", "s", "y", names, "a", names, edges, c.astype(int), int(c.sum()))
        for i, c in enumerate(sample.counts)
    ]
    (counts, *ranges), points, *_ = joined([change(summary) for summary in whole])
    people = Counted(points, counts, ranges=np.array(ranges))
    return refitted(people, counts), people


def test_intervals_hold_what_was_withheld():
    """The frontiers of all counts are within the intervals of the tables without small ones; to
    first order the numbers are beside theirs by no more than is said.
    """
    hits = []
    for seed in range(2):
        sample = law(seed)[0]
        fed, people = summarised(sample, lambda summary: summary)
        truth = compare(fed, at=[0.2], count=4).numbers
        fed, people = summarised(sample, lambda summary: summary.suppressed(25))
        assert people.ranges is not None and np.ptp(people.ranges, axis=0).sum() > 100
        comparison = compare(fed, at=[0.2], count=4)
        between, alone = (
            spread_of(comparison, fed, table).interval
            for table in (people, replace(people, ranges=None))
        )
        is_known = np.isfinite(truth + between[..., 0])
        low, high = np.moveaxis(between, -1, 0)
        hits += ((low - 1e-9 <= truth) & (truth <= high + 1e-9))[is_known].tolist()
        wider = np.diff(between)[is_known].sum() / np.diff(alone)[is_known].sum()
        assert wider > 1.2
    assert np.mean(hits) > 0.95


def test_standard_errors_of_weighted_people_are_those_of_tables():
    """The weighted share of y = 1, where weights go with the label and the site; people are drawn
    within sites, and with them the sites' weights.
    """
    rng, shares, errors = np.random.default_rng(0), [], []
    for _ in range(800):
        site, group = np.repeat([0, 1], [100, 300]), np.arange(400) % 2
        label = (rng.random(400) < 0.3 + 0.3 * site).astype(int)
        weight = rng.gamma(1.0, 1 + 2 * label + 3 * site)
        sample = count_people(np.zeros(400), label, group, site, levels=0, weight=weight)
        share = np.average(label, weights=weight)
        influence = np.broadcast_to([[-share], [1 - share]], sample.counts.shape)
        shares.append(share)
        errors.append(standard_errors(influence, sample))
    assert np.mean(errors) == pytest.approx(np.std(shares), rel=0.06)
    # person by person, as of a stratified sample with replacement
    of_person = weight * (label - share)
    centred = of_person - np.array([of_person[site == k].mean() for k in (0, 1)])[site]
    assert errors[-1] == pytest.approx(np.sqrt((centred**2).sum()) / weight.sum())


def test_the_noise_of_counts_is_counted():
    """Of the share of y = 1 in a table to whose counts noise is added."""
    sample, _ = law(0)
    influence = np.broadcast_to([[0.0], [1.0]], sample.counts.shape)
    noisy = replace(sample, noise=np.array([[0.3, 1], [np.inf, 1]]))
    rng = np.random.default_rng(0)
    draws = sample.counts + np.zeros((4000, 1, 1, 1, 1))
    draws[:, 0] += np.subtract(*rng.geometric(1 - np.exp(-0.3), (2, *draws[:, 0].shape)))
    shares = draws[..., 1, :].sum(axis=(1, 2, 3)) / draws.sum(axis=(1, 2, 3, 4))
    assert noise_errors(influence, noisy) == pytest.approx(shares.std(), rel=0.05)
    assert noise_errors(influence, sample) == 0.0
    comparison = compare(refitted(sample, sample.counts), at=[0.2], count=3)
    fed = refitted(sample, sample.counts)
    wide, narrow = (
        np.diff(spread_of(comparison, fed, table).interval) for table in (noisy, sample)
    )
    assert np.nanmin(wide - narrow) > -1e-3 and np.nansum(wide) > 1.1 * np.nansum(narrow)


def test_the_rounding_of_counts_is_counted():
    """As that of the same counts whose rests are drawn."""
    sample, _ = law(0)
    influence = np.broadcast_to([[0.0], [1.0]], sample.counts.shape)
    for base in (5, 10):
        rests = np.random.default_rng(0).integers(0, base, (4000, *sample.counts.shape)) - base // 2
        draws = sample.counts + rests + (base % 2 == 0) / 2  # of an even base the mean is not 0
        shares = draws[..., 1, :].sum(axis=(1, 2, 3)) / draws.sum(axis=(1, 2, 3, 4))
        rounds = replace(sample, noise=np.array([[np.inf, base]] * 2))
        assert noise_errors(influence, rounds) == pytest.approx(shares.std(), rel=0.05)
    ends = (bootstrapped(table, PLAIN, 20, 0).disparities for table in (rounds, sample))
    assert not np.array_equal(*ends)


def test_a_loss_near_zero_has_the_error_of_its_second_order(monkeypatch):
    """(Share of y = 1 - 1/2)², where that share is 1/2: its derivative is zero, and halves tell
    that it is var · χ² with one degree of freedom, of mean square 3 var².
    """
    monkeypatch.setattr(sampling, "SPLITS", 400)
    counts = np.full((2, 2, 2, 3), 20.0)
    halves = halved(counts, np.random.default_rng(0))
    loss = ((counts - halves)[:, :, :, 1].sum(axis=(1, 2, 3)) / 240 - 0.5) ** 2
    error = corrected(np.zeros(()), loss, np.zeros(()), np.zeros_like(counts), halves)
    assert error == pytest.approx(np.sqrt(3) * 0.25 / 480, rel=0.1)


def test_a_spot_without_a_certified_rule_has_no_interval(monkeypatch):
    def uncertain(*_):
        raise ff.CertificationError("no solution certified")

    sample, fed = law(0)
    comparison = compare(fed, at=[0.2], count=3)
    monkeypatch.setattr(sampling, "rules_at", uncertain)
    spread = spread_of(comparison, fed, sample)
    assert np.isnan(spread.interval[0, 1]).all() and np.isnan(spread.held_out).all()


def test_no_interval_ends_above_what_is_never_below():
    """Few people, groups skewed between the sites: the best rule, and CFL, are bounds."""
    rng = np.random.default_rng(3)
    site = rng.integers(0, 4, 120)
    group = (rng.random(120) < np.where(site % 2, 0.1, 0.9)).astype(int)
    score = np.round(1 / (1 + np.exp(-rng.normal(1.2 * group - 0.5, 1.3))), 1)
    sample = count_people(score, rng.random(120) < score, group, site)
    fed = refitted(sample, sample.counts)
    question = replace(PLAIN, local_eps=1.0)
    comparison = compare(fed, at=[0.05, 0.1, 0.2], count=5, question=question)
    spread = spread_of(comparison, fed, sample)
    low, high = np.moveaxis(spread.interval, -1, 0)
    aware, values = list(comparison.reaches).index("client_aware"), [1, 2, 5, 6, 7]
    others = np.delete(high, aware, axis=0)
    assert not (others[:, values] > high[0, 2]).any() and not (others[:, 5:8] > high[0, 5:8]).any()
    assert not (high[:, values] > high[:, [2]]).any() and not (low > high).any()
    assert not ((spread.held_out < 0) | (spread.held_out > 1)).any()


def test_local_budgets_limit_the_best_rules_disparity():
    """Its interval is not that of CFL's best rule, which has no such limits."""
    sample, fed = law(0, 3000)
    question = replace(PLAIN, local_eps=0.05, only=("cfl_local",))
    comparison = compare(fed, at=[0.1], count=3, question=question)
    (free_low, _), (low, high) = spread_of(comparison, fed, sample).interval[:, 3]
    assert low < comparison.numbers[1, 3] < high < free_low


def test_how_many_people_would_do_is_of_the_disparity_and_of_a_loss_that_matters():
    """Of 750 people a site, where a loss of nothing may be 3 points: 9 times as many; a loss of at
    least 1.5 points matters for sure, and one at another disparity was not asked for.
    """
    sample, fed = law(0)
    comparison = compare(fed, at=[0.2], count=3)
    plain = np.stack([comparison.numbers - 0.001, comparison.numbers + 0.001], axis=-1)
    number = comparison.numbers[3, 6]
    for column, low, high, text in (
        (6, 0.0, number + 0.03, "0.2, whether"),
        (6, 0.0, number + 0.03, "about 6,800 people at each site"),
        (6, 0.0, 0.009, ""),
        (6, 0.015, 0.05, ""),
        (4, 0.0, 0.2, ""),
    ):
        ends = plain.copy()
        ends[3, column] = low, high
        spread = Spread(ends, np.ones((5, 1)), np.zeros((5, 3, 2)), np.zeros((5, 3)), 20, 0)
        words = " ".join(_too_few(replace(comparison, people=sample.people, spread=spread)))
        assert text in words and bool(text) == bool(words), words


def coarse(seed, people, concentration=0.5):
    """People of two sites and three groups on 12 levels, where frontiers jump, and their law."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(36, concentration), 2).reshape(2, 3, 12)
    eta = np.sort(rng.uniform(size=12))
    cells = np.stack([shares * (1 - eta), shares * eta], axis=2)
    counts = [rng.multinomial(people // 2, site.ravel()) for site in cells]
    sample = Counted(np.arange(12.0), np.reshape(counts, cells.shape).astype(float))
    return sample, ff.Federation.finite(np.arange(12), shares, eta)


@pytest.mark.deep
def test_an_interval_holds_what_is_on_the_other_side_of_a_jump():
    """LFT+FedAvg at 0.05 loses 6.3 points of the law, where it jumps at 0.0548; of these people
    0.4. The least end is that of disparities which a count cannot tell from 0.05.
    """
    sample, fed = coarse(1109, 3000)
    truth = compare(fed, at=[0.05], count=4, question=replace(PLAIN, only=("lft_fedavg",)))
    question = replace(PLAIN, only=("lft_fedavg",))
    comparison = compare(refitted(sample, sample.counts), at=[0.05], count=4, question=question)
    low, high = np.moveaxis(
        spread_of(comparison, refitted(sample, sample.counts), sample).interval, -1, 0
    )
    numbers = truth.numbers
    assert numbers[1, 6] > 0.06 > 0.03 > comparison.numbers[1, 6]
    assert low[1, 5] <= numbers[1, 5] <= high[1, 5] <= high[0, 5]
    assert 0.0 <= low[1, 6] <= numbers[1, 6] <= high[1, 6] <= high[1, 4]


@pytest.mark.deep
def test_intervals_hold_the_truth():
    """50 tables of one law; its truth is that of 400,000 people on all levels of the score: merged
    levels differ from table to table, and so would their truths. docs/people.md says what was
    measured on eight laws.
    """
    at, hits = (0.1, 0.2), []
    truth = compare(law(10**6, 400_000, levels=0)[1], at=at, count=30).numbers
    for seed in range(50):
        sample, fed = law(seed, 3000, levels=None)
        comparison = compare(fed, at=at, count=8)
        low, high = np.moveaxis(spread_of(comparison, fed, sample, 100).interval, -1, 0)
        is_known = np.isfinite(comparison.numbers) & np.isfinite(low)
        hits.append(np.where(is_known, (low <= truth + 1e-9) & (truth - 1e-9 <= high), np.nan))
    assert np.nanmean(hits) > 0.93
    cfl = np.nanmean(np.array(hits)[:, 0], axis=0)  # the boundary at zero included
    assert cfl.min() > 0.9
