"""Summaries of sites: counts, their file, and that no withheld count can be derived."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import fairfl as ff
from fairfl.sims.data.summary import Summary, joined, noise, nonnegative, read_summary, summarize
from fairfl.sims.data.table_file import Form

EDGES = [k / 5 for k in range(6)]
ROWS = "s,y,a\n0.1,no,old\n0.2,yes,young\n1,yes,young\n0.55,no,old\n0.95,yes,old\n"
NAMES = {"score": "s", "label": "y", "group": "a", "site": "north", "edges": EDGES}
FORM = Form(pos_label="yes")


@pytest.fixture
def found(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    return summarize(tmp_path / "people.csv", form=FORM, **NAMES)


def test_counts_by_hand(found):
    assert (found.groups, found.labels, found.people) == (("old", "young"), ("no", "yes"), 5)
    # 0.2 is the second level's lower edge, 1 the last level's upper one
    assert found.counts.tolist() == [
        [[1, 0, 1, 0, 0], [0, 0, 0, 0, 1]],
        [[0, 0, 0, 0, 0], [0, 1, 0, 0, 1]],
    ]


def test_the_file_is_read_back(found, tmp_path):
    (tmp_path / "site.json").write_text(found.as_text())
    again = read_summary(tmp_path / "site.json")
    assert again.as_text() == found.as_text() and (again.counts == found.counts).all()


@pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning")
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_sites_are_the_federation_of_their_people(seed, sites):
    rng = np.random.default_rng(seed)
    n = 400
    frame = rng.integers(0, [[sites], [2], [2], [6]], (4, n))
    client, group, label, level = frame
    edges, counts = np.array([0, 0.1, 0.2, 0.5, 0.7, 0.9, 1.0]), np.zeros((sites, 2, 2, 6), int)
    np.add.at(counts, (client, group, label, level), 1)
    own = [
        Summary(f"site {i}", "s", "y", ("0", "1"), "a", ("0", "1"), tuple(edges), c, int(c.sum()))
        for i, c in enumerate(counts)
    ]
    table, points, *_ = joined(own)
    assert np.ptp(table, axis=0).max() == 0
    fed = ff.Federation.from_counts(table[0], points)
    middle = (edges[:-1] + edges[1:]) / 2
    twin = ff.Federation.from_samples(middle[level], label, group, client, levels=0)
    for scheme in ("cfl", "lft_ensemble"):
        a, b = (ff.solve(one, scheme, 0.05) for one in (fed, twin))
        assert (a.accuracy, a.disparity) == pytest.approx((b.accuracy, b.disparity), abs=1e-12)


@given(st.integers(0, 10**6), st.integers(3, 12))
@settings(max_examples=60)
def test_no_small_count_can_be_derived(seed, least):
    """All tables that agree with what is published, and with how it is made, by integer programmes:
    no withheld count is the same in all of them.
    """
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.3, 1, 4, 12, 30], (2, 2, 3))) * (rng.random((2, 2, 3)) < 0.8)
    people = int(counts.sum())
    whole = Summary("n", "s", "y", ("0", "1"), "a", ("0", "1"), (0, 0.3, 0.6, 1), counts, people)
    try:
        one = whole.suppressed(least)
    except ValueError:  # too few people: refused, where one count or the sum gives itself away
        small = counts[(counts > 0) & (counts < least)]
        assert not (counts >= least).any()
        assert small.sum() in (small.size, small.size * (least - 1)) or small.size == 1
        return
    assert json.loads(one.as_text())["totals"].keys() <= {"people", "groups", "labels"}
    hidden = np.flatnonzero(one.withheld)
    if not hidden.size:
        assert not ((counts > 0) & (counts < least)).any()
        return
    assert json.loads(one.as_text())["totals"] == {"people": people}
    m, left = hidden.size, people - int(one.counts[one.counts >= 0].sum())
    # unknown are the counts, and which of them is the larger one, if one is
    sums = np.append(np.ones(m), np.zeros(m)), np.append(np.zeros(m), np.ones(m))
    rows = [optimize.LinearConstraint(sums[0], left, left)]
    rows.append(optimize.LinearConstraint(sums[1], int(one.complemented), int(one.complemented)))
    large = np.hstack([np.eye(m), -people * np.eye(m)])  # at most least - 1 unless the larger one
    rows.append(optimize.LinearConstraint(large, -np.inf, least - 1))
    small = np.hstack([np.eye(m), -(least - 1) * np.eye(m)])
    rows.append(optimize.LinearConstraint(small, 1, np.inf))
    bounds = optimize.Bounds(np.append(np.ones(m), np.zeros(m)), np.append(m * [people], m * [1]))
    for k in range(m):
        ends = []
        for sign in (1, -1):
            cost = sign * np.eye(2 * m)[k]
            best = optimize.milp(cost, constraints=rows, bounds=bounds, integrality=np.ones(2 * m))
            assert best.success
            ends.append(round(best.x[k]))
        if counts.flat[hidden[k]] < least:
            assert ends[0] < ends[1], (counts, one.counts)


def test_sites_too_small_and_protection_given_twice_are_refused(found):
    # five counts of one: their sum, the number of people, says that each is one
    with pytest.raises(ValueError, match="'north' has too few people to withhold counts below 11"):
        found.suppressed(11)
    for epsilon in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="epsilon must be a number of at least 0.001, got"):
            found.noised(epsilon)
    noisy = replace(found, epsilon=1.0)
    for again in (lambda: noisy.noised(1.0), lambda: noisy.suppressed(3)):
        with pytest.raises(ValueError, match="have been withheld, or have noise, already"):
            again()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_noise_is_as_likely_as_privacy_asks(epsilon):
    """One person more moves the probabilities by a factor of exp(epsilon) at most; the variance."""
    draws = noise(epsilon, (400_000,), np.random.default_rng(0))
    values, times = np.unique(draws, return_counts=True)
    many = times > 2000
    ratio = np.diff(np.log(times[many])) / -np.sign(values[many][1:] - 0.5)
    assert ratio == pytest.approx(epsilon, abs=0.12)
    share = np.exp(-epsilon)
    assert draws.var() == pytest.approx(2 * share / (1 - share) ** 2, rel=0.02)


@given(st.integers(0, 10**6))
def test_negative_counts_are_mended_by_the_nearest_ones(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(-8, 12, (2, 2, 3))
    if counts.sum() < 0:
        return
    out = nonnegative(counts)
    assert out.min() >= 0 and out.sum() == counts.sum()
    # nearest: no person can move to another cell and lessen the distance
    off = out - counts
    given_, taken = np.argmax(np.where(out > 0, off, -99)), np.argmin(off)
    moved = out.copy()
    moved.flat[given_] -= 1
    moved.flat[taken] += 1
    assert moved.min() < 0 or ((moved - counts) ** 2).sum() >= (off**2).sum()


def test_a_file_with_noise_is_read_back(found, tmp_path):
    whole = replace(found, counts=found.counts * 100, people=500)
    noisy = whole.noised(0.5)
    assert (noisy.counts != whole.counts).any() and noisy.counts.min() >= 0
    (tmp_path / "site.json").write_text(noisy.as_text())
    again = read_summary(tmp_path / "site.json")
    assert again.epsilon == 0.5 and again.as_text() == noisy.as_text()
    assert (whole.noised(0.5).counts != noisy.counts).any()  # no seed
