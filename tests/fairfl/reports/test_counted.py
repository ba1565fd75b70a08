"""What is promised of people is what is counted on them: rules held against a plain count."""

import warnings

import numpy as np
import pytest

import fairfl as ff
from fairfl.reports.counted import counted_lines
from fairfl.reports.frontier import compared
from fairfl.reports.question import Question
from fairfl.reports.sampling import accepted
from fairfl.theory.populations.calibration import ScoreWarning
from fairfl.theory.populations.count_people import count_people
from fairfl.theory.populations.notions import NOTIONS

EVENTS = {"everyone": lambda y: y >= 0, "positive": lambda y: y == 1, "negative": lambda y: y == 0}


@pytest.fixture(scope="module")
def people():
    """The issue's: P(y = 1 | score) differs between the groups."""
    rng, n = np.random.default_rng(1), 20000
    group, site = rng.choice(["f", "m"], n), rng.choice(["N", "S", "W"], n)
    z = rng.normal(np.where(group == "m", 0.3, -0.1), 1, n)
    chance = 1 / (1 + np.exp(-(1.5 * z + np.where(group == "m", -0.9, 0.6))))
    return np.round(1 / (1 + np.exp(-z)), 3), (rng.random(n) < chance).astype(int), group, site


def counted(accepted, notion, y, group):
    """The disparity of a rule's chances, person by person."""
    gaps = []
    for rate in NOTIONS[notion].rates:
        if rate.key == "right":
            served, event = np.where(y == 1, accepted, 1 - accepted), y >= 0
        else:
            served, event = accepted, EVENTS[rate.key](y)
        rates = [served[event & (group == a)].mean() for a in np.unique(group)]
        gaps.append(max(rates) - min(rates))
    return max(gaps)


@pytest.mark.parametrize("calibrate", ["shared", "group", "client_group"])
def test_the_difference_is_that_of_a_plain_count_and_is_said(people, calibrate):
    score, y, group, site = people
    question = Question(notion="equal_opportunity", only=("lft_fedavg_common",))
    sample = count_people(*people, calibrate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreWarning)
        fed = ff.Federation.of_people(sample)
    comparison = compared(fed, sample, question=question, at=[0.02], count=8, bootstraps=0)
    for (scheme, reach), excess in zip(
        comparison.reaches.items(), comparison.counted[:, 1], strict=True
    ):
        base = scheme.removesuffix("_common")
        solution = ff.solve(fed, base, reach.points.eps[1], notion=question.notion)
        chances = solution.classifier(score, group)
        right = np.where(y == 1, chances, 1 - chances).mean()
        assert excess[0] == pytest.approx(right - solution.accuracy, abs=1e-9)
        gap = counted(chances, question.notion, y, group)
        assert excess[1] == pytest.approx(gap - solution.disparity, abs=1e-9)
    first, *warned = counted_lines(comparison)
    assert "Counted on these people by their labels, each rule has the accuracy" in first
    assert bool(warned) == (calibrate == "shared")
    assert all("0.118 where 0.02 is promised" in line for line in warned[:1])


def test_the_rule_of_the_table_is_counted_where_solve_takes_another(monkeypatch):
    """At costs 3:1 all whose P(y = 1 | score) is 1/4 tie, and ``solve`` accepts half of them."""
    rng, rows = np.random.default_rng(0), []
    for site, group, score in np.ndindex(3, 2, 5):
        people = 4 * rng.integers(5, 40)
        rows += [(score, y < people * score // 4, group, site) for y in range(people)]
    score, y, group, site = np.array(rows, int).T
    sample, rules = count_people(score, y, group, site, "shared"), []

    def spied(rule, counts):
        rules.append(rule)
        return accepted(rule, counts)

    monkeypatch.setattr("fairfl.reports.counted.accepted", spied)
    fed, question = ff.Federation.of_people(sample), Question(costs=(3, 1))
    comparison = compared(fed, sample, question=question, at=[0.02], count=12, bootstraps=0)
    assert not all(reach.frontier.reproduced.all() for reach in comparison.reaches.values())
    promised = comparison.table[:, :-2, 1].ravel()
    for rule, disparity in zip(rules, promised[~np.isnan(promised)], strict=True):
        gap = counted(
            rule[site if len(rule) > 1 else 0, group, score], "demographic_parity", y, group
        )
        assert gap == pytest.approx(disparity, abs=1e-9)


def test_a_disparity_that_does_not_hold_on_other_people_is_warned_of():
    """Levels of two people: a rule at disparity 0 is one of the people it was fitted to."""
    rng, n = np.random.default_rng(0), 400
    group, site, score = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.permutation(n)
    y = (rng.random(n) < 0.2 + 0.6 * (score > n / 2)).astype(int)
    warned = []
    for levels in (0, 4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreWarning)
            sample = count_people(score // 2, y, group, site, "group", levels)
            fed = ff.Federation.of_people(sample)
        question = Question(notion="equal_opportunity", only=("lft_fedavg",))
        comparison = compared(fed, sample, question=question, at=[0.02], count=5, bootstraps=20)
        warned.append([line for line in counted_lines(comparison) if "not fitted to" in line])
        level_share = (sample.counts.sum(0) / sample.counts.sum((0, 3))[..., None]).max()
        gap = comparison.spread.held_out[..., 1] - comparison.table[:, :-2, 1]
        far = np.nan_to_num(gap) > np.fmax(1.96 * comparison.spread.disparity_error, level_share)
        assert len(warned[-1]) == far.any(axis=1).sum()
    assert warned[0] and not warned[1]
