"""Summaries of sites: counts, their file, and that no withheld count can be derived."""

import os
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import exp
from random import SystemRandom
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairfl as ff
from fairfl.sims.data import altered_counts
from fairfl.sims.data.altered_counts import exact_noise, nonnegative
from fairfl.sims.data.joined_summaries import joined
from fairfl.sims.data.summary import Summary, check_alone, read_summary, summarize
from fairfl.sims.data.table_file import Form

EDGES = [k / 5 for k in range(6)]
ROWS = "s,y,a\n0.1,no,old\n0.2,yes,young\n1,yes,young\n0.55,no,old\n0.95,yes,old\n"
NAMES = {"score": "s", "label": "y", "group": "a", "site": "north", "edges": EDGES}
FORM = Form(pos_label="yes")


@pytest.fixture
def north(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    return summarize(tmp_path / "people.csv", form=FORM, **NAMES)


def test_counts_by_hand(north):
    assert (north.groups, north.labels, north.people) == (("old", "young"), ("no", "yes"), 5)
    # 0.2 is the second level's lower edge, 1 the last level's upper one
    assert north.counts.tolist() == [
        [[1, 0, 1, 0, 0], [0, 0, 0, 0, 1]],
        [[0, 0, 0, 0, 0], [0, 1, 0, 0, 1]],
    ]


def test_the_file_is_read_back(north, tmp_path):
    noisy = replace(north, counts=north.counts * 100, people=500).noised(0.5)
    assert (noisy.counts != north.counts * 100).any() and noisy.counts.min() >= 0
    tens = replace(north, counts=north.counts * 14 + 5, people=70 + 5 * 20).rounded(10)
    assert set(tens.counts.flat) == {10, 20} and tens.people == 5 * 20 + 15 * 10
    for site in (north, noisy, tens):
        (tmp_path / "site.json").write_text(site.as_text())
        again = read_summary(tmp_path / "site.json")
        assert again.as_text() == site.as_text() and (again.counts == site.counts).all()
    assert noisy.noise_words == "have noise (epsilon = 0.5)" and again.rounded_to == 10
    with pytest.raises(ValueError, match="'north' has too few people for rounded_to = 3: none"):
        north.rounded(3)
    with pytest.raises(ValueError, match="have been withheld, or have noise, already"):
        tens.noised(1)


@pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning")
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_sites_are_the_federation_of_their_people(seed, sites):
    rng = np.random.default_rng(seed)
    n = 400
    frame = rng.integers(0, [[sites], [2], [2], [6]], (4, n))
    client, group, label, level = frame
    edges, counts = np.array([0, 0.1, 0.2, 0.5, 0.7, 0.9, 1.0]), np.zeros((sites, 2, 2, 6), int)
    np.add.at(counts, (client, group, label, level), 1)
    summaries = [
        Summary(f"site {i}", "s", "y", ("0", "1"), "a", ("0", "1"), tuple(edges), c, int(c.sum()))
        for i, c in enumerate(counts)
    ]
    table, points, *_ = joined(summaries)
    assert np.ptp(table, axis=0).max() == 0
    fed = ff.Federation.from_counts(table[0], points)
    middle = (edges[:-1] + edges[1:]) / 2
    twin = ff.Federation.from_samples(middle[level], label, group, client, levels=0)
    for scheme in ("cfl", "lft_ensemble"):
        a, b = (ff.solve(federation, scheme, 0.05) for federation in (fed, twin))
        assert (a.accuracy, a.disparity) == pytest.approx((b.accuracy, b.disparity), abs=1e-12)


class Branches:
    """In place of the randomness: one path of draws, of which each is a place, after its end the
    first; a path less likely than 1e-12 ends.
    """

    def __init__(self, path=()):
        self.path, self.sizes, self.chance = list(path), [], 1.0

    def branch(self, *chances):
        assert min(chances) > 0
        self.path += [0] * (len(self.sizes) == len(self.path))
        place = self.path[len(self.sizes)]
        self.sizes.append(len(chances))
        self.chance *= chances[place]
        if self.chance < 1e-12:
            raise ValueError("unlikely")
        return place

    def choices(self, cells, weights):
        return [cells[self.branch(*weights)]]

    def randrange(self, size):
        return self.branch(*[1 / size] * size)


def outcomes(run):
    """What it returns for every path of draws, and how likely; a ValueError is no outcome."""
    path, results = [], []
    while path is not None:
        draws = Branches(path)
        with suppress(ValueError):
            results.append((run(draws), draws.chance))
        path = draws.path[: len(draws.sizes)]
        while path and path[-1] + 1 == draws.sizes[len(path) - 1]:
            path.pop()
        path = [*path[:-1], path[-1] + 1] if path else None
    return results


def site_of(counts, levels):
    """A site of one group with these counts by label and level."""
    table = np.reshape(counts, (1, 2, levels))
    edges = tuple(range(levels + 1))
    return Summary("n", "s", "y", ("0", "1"), "a", ("0",), edges, table, int(table.sum()))


@pytest.mark.parametrize(
    ("threshold", "levels", "people"), [(2, 2, 6), (3, 2, 9), (4, 2, 14), (3, 3, 8)]
)
def test_a_small_count_could_be_any_small_number(threshold, levels, people, monkeypatch):
    """All tables with so many people, and all files that each gives by some draws: to a reader of
    the rule and of the file, a withheld count that is small can be 1, 2, ... or least - 1, and the
    ranges are the least and the most that it can be.
    """
    tables = [()]
    for _ in range(2 * levels - 1):
        tables = [(*t, c) for t in tables for c in range(people - sum(t) + 1)]

    def suppressed(draws):
        monkeypatch.setattr(altered_counts, "RANDOM", draws)
        return site.suppressed(threshold)

    agree = defaultdict(set)
    for table in ((*t, people - sum(t)) for t in tables):
        site = site_of(table, levels)
        for file, _ in outcomes(suppressed):
            agree[file.as_text()].add((table, tuple(map(tuple, file.ranges.reshape(2, -1)))))
    withheld = 0
    for sources in agree.values():
        (ranges,) = {ends for _, ends in sources}
        could_be = [set(values) for values in zip(*(table for table, _ in sources), strict=True)]
        for values, *ends in zip(could_be, *ranges, strict=True):
            assert [min(values), max(values)] == ends
            if len(values) > 1:
                withheld += 1
                assert values >= set(range(1, threshold))
            else:
                assert not values & set(range(1, threshold))
    assert withheld > 20


def test_another_file_of_the_same_people_is_refused(tmp_path):
    """Of two files about one site's people, of which one withholds counts."""
    fine, coarse = site_of([30, 2, 5, 40, 0, 20, 3, 60], 4), site_of([32, 45, 20, 63], 2)
    (tmp_path / "other.json").write_text('["no summary"]')
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "fine.json").write_text(fine.suppressed(11).as_text())
    message = "fine.json is a summary of 160 people of 'n', too: of the same people both can give"
    for again in (coarse, coarse.suppressed(11), fine, coarse.rounded(6)):
        with pytest.raises(ValueError, match=message):
            check_alone(again, tmp_path)
    check_alone(read_summary(tmp_path / "fine.json"), tmp_path)
    check_alone(replace(coarse, site="m"), tmp_path)
    (tmp_path / "fine.json").write_text(fine.as_text())  # all counts are published
    check_alone(coarse, tmp_path)
    (tmp_path / "fine.json").write_text(coarse.rounded(6).as_text())
    with pytest.raises(ValueError, match="fine.json is a summary of 162 people of 'n', too"):
        check_alone(fine.suppressed(11), tmp_path)


def test_sites_too_small_and_protection_given_twice_are_refused(north):
    # five counts of one: their sum, the number of people, says that each is one
    with pytest.raises(ValueError, match="'north' has too few people to withhold counts below 11"):
        north.suppressed(11)
    for epsilon in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="epsilon must"):
            north.noised(epsilon)
    noisy = replace(north, epsilon=1.0)
    for again in (lambda: noisy.noised(1.0), lambda: noisy.suppressed(3)):
        with pytest.raises(ValueError, match="have been withheld, or have noise, already"):
            again()


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(2, 7), Fraction(1)])
def test_a_coin_has_an_exponential_chance(gamma, monkeypatch):
    """Draw k is one of k·denominator and goes on below the numerator: the series of exp(-gamma)."""
    n = gamma.denominator
    for below in range(1 + 4 * (gamma > 0)):  # draws that go on
        sizes = []

        def randrange(size, sizes=sizes, below=below):
            sizes.append(size)
            return gamma.numerator - (len(sizes) <= below)

        monkeypatch.setattr(altered_counts, "RANDOM", SimpleNamespace(randrange=randrange))
        assert altered_counts._coin(gamma) is (below % 2 == 0)
        assert sizes == [n * k for k in range(1, below + 2)]


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2, 3), Fraction(7, 5)])
def test_noise_is_exactly_as_likely_as_privacy_asks(epsilon, monkeypatch):
    """All paths of draws up to the first that starts anew, coins as above, and their chances."""

    def first_round(draws):
        def randrange(size):
            if draws.sizes and size == epsilon.denominator:
                raise ValueError("anew")
            return draws.randrange(size)

        def coin(gamma):
            return draws.branch(exp(-gamma), 1 - exp(-gamma)) == 0 if gamma else True

        monkeypatch.setattr(altered_counts, "RANDOM", SimpleNamespace(randrange=randrange))
        monkeypatch.setattr(altered_counts, "_coin", coin)
        return exact_noise(epsilon)

    likely = Counter()
    for k, chance in outcomes(first_round):
        likely[k] += chance
    share, total = exp(-epsilon), sum(likely.values())
    for k in range(-9, 10):
        exact = share ** abs(k) * (1 - share) / (1 + share)
        assert likely[k] / total == pytest.approx(exact, rel=1e-8)


def test_protection_draws_from_the_operating_system(north, monkeypatch):
    """No generator of numpy is asked, and no seed decides."""
    assert type(altered_counts.RANDOM) is SystemRandom
    monkeypatch.delattr(np.random, "default_rng")
    whole = replace(
        north, counts=north.counts * 100 + 50, people=int((north.counts * 100 + 50).sum())
    )
    assert (whole.noised(0.5).counts != whole.noised(0.5).counts).any()


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
