"""Questions: rules counted person by person, rates of groups, and bounds of intervals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tasks import COUNTED, NOTIONS, Counted, federation

import fairfl as ff
from fairfl.reports.bootstrap import _resampled
from fairfl.reports.comparison import compare
from fairfl.reports.comparison_words import sentences
from fairfl.reports.curves import frontiers
from fairfl.reports.frontier import rules_table, write
from fairfl.reports.question import Question
from fairfl.reports.rules import as_data, group_rates
from fairfl.reports.sampling import accepted, by_label, judged, refitted
from fairfl.theory.populations.calibration import Counted as People
from fairfl.theory.populations.notions import NOTIONS as TABLE
from fairfl.theory.populations.notions import Rates

COSTS = [(1.0, 1.0), (5.0, 1.0), ((1.0, 2.0, 0.5), 3.0), "balanced"]


@given(st.integers(0, 10**6), st.sampled_from(list(NOTIONS)), st.booleans(), st.booleans())
def test_a_rule_is_counted_person_by_person(seed, notion, overall, sees_client):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, (2, 3, 2, 4)).astype(float)
    counts[:, :, :, 0] += 1  # every client and group has people of both labels
    table = rng.random((2, 3, 4)) if sees_client else np.repeat(rng.random((1, 3, 4)), 2, axis=0)
    costs = COSTS[rng.integers(4)]
    question = Question(notion, "overall" if overall else "pairwise", costs)
    task = question.task(refitted(People(np.arange(4.0), counts), counts), "cfl")
    served = accepted(table if sees_client else table[:1], counts)
    value, disparity = judged(*by_label(served), task, question)
    fn, fp = (0.5 / (counts[:, :, y].sum() / counts.sum()) for y in (1, 0))
    fn, fp = (fn, fp) if costs == "balanced" else costs
    fn, fp = np.broadcast_to(fn, 3), np.broadcast_to(fp, 3)
    cost, met, served = 0.0, {}, {}
    for i, a, y, k in np.argwhere(counts > 0):
        people, f = counts[i, a, y, k], table[i, a, k]
        cost += people * (fn[a] * (1 - f) if y else fp[a] * f)
        for label in NOTIONS[notion]:
            if label in (None, "right", y):
                good = (f if y else 1 - f) if label == "right" else f
                for people_of in (a, "all"):
                    met[label, people_of] = met.get((label, people_of), 0) + people
                    served[label, people_of] = served.get((label, people_of), 0) + people * good
    rate = {key: served[key] / met[key] for key in met}
    differences = [
        abs(rate[e, a] - rate[e, "all" if overall else b])
        for e in NOTIONS[notion]
        for a in range(3)
        for b in range(3)
    ]
    assert disparity == pytest.approx(max(differences), abs=1e-12)
    share = question.value != "utility"
    assert value == pytest.approx(share - cost / counts.sum(), abs=1e-12)


@pytest.mark.parametrize("costs", COSTS[1::2])
def test_values_are_those_at_the_points(costs):
    fed = federation(np.random.default_rng(5), clients=2, groups=3)
    question = Question("eo", costs=costs)
    for name, curve in frontiers(fed, 3, question).items():
        values, at = question.values(curve), question.at(curve, curve.disparity)
        assert (at >= values - 1e-9).all()
        # at one budget three groups have a path that is searched: asked again, more is found
        assert name.endswith("_common") or at == pytest.approx(values, abs=1e-9)
        assert (values >= 0).all() if question.is_share else (values <= 0).all()


def test_balanced_accuracy_where_half_of_the_labels_are_positive(tmp_path):
    """The costs are one then, and the frontiers' own values accuracies."""
    masses = np.array([[[0.125, 0.25], [0.25, 0.125], [0.125, 0.125]]] * 2)
    fed = ff.Federation.finite([0, 1], masses, [0.25, 0.75])
    comparison = compare(fed, question=Question("eo", costs="balanced"), count=3)
    assert comparison.number("cfl", 2) == pytest.approx(0.75, abs=1e-12)
    write(comparison, "half", tmp_path)
    written = pd.read_csv(tmp_path / "frontier.csv")
    assert written["balanced_accuracy"].notna().all()


@given(st.integers(0, 10**6))
def test_rates_of_groups_make_the_disparity(seed):
    rng = np.random.default_rng(seed)
    fed = federation(rng)
    notion, difference = str(rng.choice(list(NOTIONS))), str(rng.choice(["pairwise", "overall"]))
    question = Question(notion, difference, (3.0, 1.0))
    # of several most useful rules the least disparate
    top = ff.frontier(fed, "cfl", 2, **question.of("cfl")).disparity[-1]
    mass = Rates.of(notion, fed.pooled.people, fed.pooled.eta).mass
    if ((mass > 0).sum(axis=-1) < 2).all():
        with pytest.raises(ValueError, match="must have two groups to compare: nobody of group"):
            group_rates(fed, question, top)
        return
    top_rates = group_rates(fed, question, top)
    free, fairest = (ff.solve(fed, "cfl", eps, **question.of("cfl")) for eps in (np.inf, top))
    by_hand = Counted(fed, (free if free.disparity <= top + 1e-9 else fairest).classifier)
    assert top_rates.rate in TABLE[notion].rates
    label = COUNTED[top_rates.rate.event, top_rates.rate.served]
    everybody, groups = set(range(fed.n_clients)), set(range(fed.n_groups))
    rates = [by_hand.rate(label, everybody, {a}) for a in groups]
    assert top_rates.by_group == pytest.approx(rates, abs=1e-10, nan_ok=True)
    of_all = by_hand.rate(label, everybody, groups)
    assert top_rates.of_all == pytest.approx(of_all, abs=1e-10, nan_ok=True)
    difference_by_hand = np.nanmax(rates) - np.nanmin(rates)
    if difference == "overall":
        difference_by_hand = np.nanmax(np.abs(np.array(rates) - of_all))
    assert difference_by_hand == pytest.approx(top, abs=2e-9)


def test_prices_are_what_more_of_a_budget_brings():
    rng = np.random.default_rng(1)
    masses = rng.random((3, 2, 9))
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    fed = ff.Federation.finite(np.arange(9), masses, rng.random(9))
    comparison = compare(fed, at=[0.01], count=8)
    chosen = comparison.rules["lft_fedavg"]
    for i, price in enumerate(as_data(chosen, comparison.groups)["client_prices"]):
        more = ff.solve(fed, "lft_fedavg", chosen.solution.eps + 1e-6 * (np.arange(3) == i))
        assert price == pytest.approx((more.accuracy - chosen.solution.accuracy) / 1e-6, abs=6e-3)
    assert as_data(comparison.rules["cfl"], comparison.groups)["client_prices"] is None


@pytest.mark.parametrize("difference", ["pairwise", "overall"])
def test_a_rate_that_does_not_exist_is_not_compared(difference):
    """Of b nobody has y = 1: of two groups nothing is left, of three the others are compared."""
    masses = [[[0.2, 0.1], [0.2, 0.1], [0.1, 0.3]]]
    eta = [[[0.4, 0.9], [0.0, 0.0], [0.6, 0.8]]]
    fed = ff.Federation.finite([0, 1], masses, eta)
    comparison = compare(fed, question=Question("eo", difference), count=3)
    # x = 1 of a and everybody of c are accepted
    rate_a, rate_all = 0.09 / 0.17, (0.09 + 0.3) / (0.17 + 0.3)
    assert comparison.rates.undefined == ("nobody of group 1 has y = 1",)
    high = 1.0 - (rate_all if difference == "overall" else rate_a)
    assert comparison.number("cfl", 3) == pytest.approx(max(high, rate_all - rate_a))
    assert "(left out: nobody of group 1 has y = 1)" in sentences(comparison)[0]
    cells = [*rules_table(comparison).columns[-1].cells]
    assert [cell == "undefined" for cell in cells[:3]] == [False, True, False]
    two = ff.Federation.finite([0, 1], np.array(masses)[:, :2] / 0.6, np.array(eta)[:, :2])
    message = "'true_positive_rate_parity' must have two groups to compare: nobody of group 1 has y"
    with pytest.raises(ValueError, match=message):
        compare(two, question=Question("eo", difference), count=3)


def test_a_rule_for_each_client_may_gain():
    """Two clients that favour opposite groups: the budget of the pooled law binds neither."""
    masses = [[[0.1, 0.2, 0.5], [0.1, 0.1, 0.0]], [[0.1, 0.1, 0.0], [0.5, 0.2, 0.1]]]
    eta = [[0.1, 0.5, 0.8], [0.4, 0.6, 0.9]]
    comparison = compare(
        ff.Federation.finite([0, 1, 2], masses, eta), question=Question(local_eps=1.0)
    )
    aware = comparison.reaches["client_aware"]
    assert aware.loss <= 1e-12 < 1e-4 < aware.gain
    assert comparison.bounds[[-1, 0], 4].tolist() == [[-1, 1], [0, 1]]


def test_a_small_group_varies_as_the_draws_that_have_it():
    """One person of 21: binomial, given that it is not 0."""
    client = np.zeros((2, 2, 1))
    client[:, 0, 0] = 1.0, 20.0
    rng = np.random.default_rng(0)
    size = [_resampled(client, rng)[0].sum() for _ in range(4000)]
    assert np.mean(size) == pytest.approx(1 / (1 - (20 / 21) ** 21), abs=0.06)


def test_many_groups_of_one_person_are_drawn_in_the_end():
    client = np.zeros((60, 2, 3))
    client[:, 1, 0] = 1.0
    client[5] = 0.0
    client[7, 0, 1] = 9.0
    sample = _resampled(client, np.random.default_rng(0))
    assert np.array_equal(sample.sum(axis=(1, 2)), client.sum(axis=(1, 2)))
    assert (sample[client == 0] == 0).all()


def test_for_many_groups_slow_schemes_are_solved_where_they_are_named():
    whole = Question()
    assert whole.for_groups(30) == (whole, [])
    few, (note,) = whole.for_groups(31)
    assert few.schemes == ("cfl", "lft_ensemble_common")
    slow = "lft_fedavg_common,lft_fedavg,lft_ensemble"
    assert note == f"Left out for more than 30 groups: --schemes {slow} (minutes)."
    assert whole.for_groups(31, "lft_fedavg")[0].schemes == (*few.schemes, "lft_fedavg")
    local, named = Question(local_eps=0.1), Question(only=("lft_fedavg",))
    assert local.for_groups(31)[0].schemes == (*few.schemes, "cfl_local", "client_aware")
    assert named.for_groups(100) == (named, [])


def test_what_monotone_rules_cost_is_said():
    masses, eta = np.full((2, 2, 4), 1 / 8), [0.2, 0.9, 0.3, 0.8]
    fed = ff.Federation.finite(range(4), masses, eta)
    comparison = compare(fed, question=Question(monotone=True), count=3)
    # the best rule takes .9 and .8; a monotone one takes .3 too
    best = sum(max(p, 1 - p) for p in eta) / 4
    assert best == pytest.approx(0.8) and comparison.any_rule["cfl"][-1] == pytest.approx(best)
    first = sentences(comparison)[0]
    lost = 100 * (best - comparison.reaches["cfl"].frontier.accuracy[-1])
    assert lost == pytest.approx(10.0)
    assert f"(monotone rules: {lost:.2f} points less than any rule)" in first
