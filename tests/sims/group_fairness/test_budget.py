"""FairBatch with a budget: by hand, complementary slackness, its dual's optimum."""

from dataclasses import replace

import numpy as np
import pytest
from grouped import people, run
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.engine.task import as_floats
from fairfl.sims.group_fairness import FairBatch, LocalFairBatch
from fairfl.sims.group_fairness.lft import LAM

KNOWN = np.array([[2.0, 3.0], [1.0, 4.0]])
"""Five people a group: λ^(0) = (1/2, 1/2), and F_1 = D_1 - D_0 + 2/5 - 1/5."""


def reports_of(rules, sizes, rng):
    """A sum of reports, at random."""
    report = rules.statistics(sizes[None], sizes[None], np.zeros(1, np.int64), sizes)
    return rng.normal(size=report.shape[1])


def report(gap):
    """D (2,) with F_1 = gap."""
    return np.array([0.0, gap - 0.2])


@pytest.mark.parametrize(
    ("offset", "gap", "expected"),
    [
        (0.0, 0.05, 0.0),  # within the budget, multiplier 0: stays
        (0.0, 0.3, 0.02),  # 0.1 (0.3 - 0.1)
        (0.0, -0.3, -0.02),
        (0.05, 0.3, 0.07),
        (0.05, 0.1, 0.05),  # on the budget, tight: stationary
        (0.05, 0.0, 0.04),  # slack: back by 0.1 (0 - 0.1)
        (0.005, 0.0, 0.0),  # and no further than neutral
        (-0.005, 0.02, 0.0),
        # 0.01 - 0.03 = -0.02, then 0.01 towards 0: the other constraint is violated
        (0.01, -0.3, -0.01),
    ],
)
def test_steps_by_hand(offset, gap, expected):
    """δ <- soft(δ + 0.1 F, 0.1 · 0.1) about λ^(0) = 1/2, group 0 the other way."""
    rule = FairBatch("dp", 0.1, normalised=False, budget=0.1)
    new = rule.step(np.array([0.5 - offset, 0.5 + offset]), report(gap), KNOWN, 0)
    np.testing.assert_allclose(new, [0.5 - expected, 0.5 + expected], atol=1e-15)


def test_the_normalised_step_is_alpha_long_until_it_stops():
    """μ is (-1, 1) times 0.2, F_a less the budget, so that λ moves by 0.1 in all."""
    rule = FairBatch("dp", 0.1, budget=0.1)
    start = np.array([0.5, 0.5])
    assert np.linalg.norm(rule.step(start, report(0.3), KNOWN, 0) - start) == pytest.approx(0.1)
    back = rule.step(start + [-0.2, 0.2], report(0.0), KNOWN, 0)
    assert np.linalg.norm(back - start) == pytest.approx(0.2 * 2**0.5 - 0.1)
    np.testing.assert_array_equal(rule.step(start, report(0.1), KNOWN, 0), start)
    fair = start + [-0.2, 0.2]  # the budget presses by 0.25 - 0.1 here
    assert np.linalg.norm(rule.step(fair, report(0.25), KNOWN, 0) - fair) == pytest.approx(0.1)


@given(
    st.sampled_from(["dp", "eo", "eodds"]),
    st.booleans(),
    st.integers(2, 4),
    st.integers(0, 2**16),
    st.sampled_from([0.0, 0.01, 0.1, 0.5]),
)
def test_multipliers_grow_beyond_the_budget_and_return_within(
    notion, normalised, groups, seed, budget
):
    rng = np.random.default_rng(seed)
    rule = FairBatch(notion, 0.05, normalised=normalised, budget=budget)
    sizes = rng.integers(1, 9, (groups, 2)).astype(float)
    neutral = rule.rules.initial(sizes)
    lam = rule.rules.project(neutral + 0.1 * rng.normal(size=neutral.shape), sizes)
    total = reports_of(rule.rules, sizes, rng)
    before, gaps = rule.rules.free(lam, sizes), rule.rules.gaps(rule.rules.direction(total, sizes))
    after = rule.rules.free(rule.step(lam, total, sizes, 0), sizes)
    # a box acts on each multiplier alone; the simplex of the others, on all
    if notion == "dp" or groups == 2:
        ends = 1e-12
        assert (after[gaps > budget] >= before[gaps > budget] - ends).all()
        assert (after[gaps < -budget] <= before[gaps < -budget] + ends).all()
        slack = np.abs(gaps) < budget
        assert (np.abs(after[slack]) <= np.abs(before[slack]) + ends).all()
        assert (after[slack] * before[slack] >= -ends).all()


@pytest.mark.parametrize("budget", [0.0, 0.1, 0.25, 0.6])
def test_the_multiplier_is_that_of_the_dual(budget):
    """F(δ) = 0.4 - 2 δ is the slope of 0.4 δ - δ²; less ε |δ|: δ* = soft(0.4, ε) / 2."""
    rule, lam = FairBatch("dp", 0.2, normalised=False, budget=budget), np.array([0.5, 0.5])
    for t in range(200):
        lam = rule.step(lam, report(0.4 - 2 * (lam[1] - 0.5)), KNOWN, t)
    assert lam[1] - 0.5 == pytest.approx(max(0.4 - budget, 0.0) / 2, abs=1e-9)


def test_clients_may_have_budgets_of_their_own():
    parts = people()
    rule, budgets = FairBatch("dp", 0.2, surrogate="zero_one"), (0.0, 10.0, 0.3)
    both = as_floats(run(parts, LocalFairBatch(rule, budgets=budgets), 6)[0].states[0][LAM])
    for k, budget in enumerate(budgets):
        alone, _ = run(parts, LocalFairBatch(replace(rule, budget=budget)), 6)
        np.testing.assert_array_equal(both[k], as_floats(alone.states[0][LAM])[k])
    # client 1's people: a budget that never binds
    shares = np.bincount(parts.train.group[11:26]) / 15
    np.testing.assert_allclose(both[1], shares, atol=1e-15)


def test_clipping_leaves_the_plane_and_the_other_projection_stays():
    """A step of 0.3 each way: at λ_0 = 0, λ_1 is 1.1 in the box and 1 on the plane."""
    sizes = np.array([[1.0, 1.0], [4.0, 4.0]])  # λ^(0) = (1/5, 4/5)
    total = np.array([0.0, 0.5])  # F_1 = 0.5 + 1/2 - 1/2
    for projection, expected in (("box", [0, 1.1]), ("sum", [0, 1.0])):
        rule = FairBatch("dp", 0.3 * 2**0.5, projection=projection)
        lam = rule.step(np.array([0.2, 0.8]), total, sizes, 0)
        np.testing.assert_allclose(lam, expected, atol=1e-12)


@pytest.mark.parametrize("notion", ["dp", "eo", "eodds"])
def test_a_step_of_many_clients_is_each_clients_own(notion):
    rng, budgets = np.random.default_rng(0), np.array([0.0, 0.05, 0.5, 0.0])
    sizes, rule = rng.integers(1, 9, (4, 3, 2)).astype(float), FairBatch(notion, 0.3)
    lam, totals = (
        rule.rules.initial(sizes),
        np.stack([reports_of(rule.rules, n, rng) for n in sizes]),
    )
    together = rule.step(lam, totals, sizes, 2, budgets[:, None])
    table = rule.rules.table(together, sizes, sizes)
    for k, eps in enumerate(budgets):
        alone = replace(rule, budget=eps).step(lam[k], totals[k], sizes[k], 2)
        np.testing.assert_array_equal(together[k], alone)
        np.testing.assert_array_equal(table[k], rule.rules.table(alone, sizes[k], sizes[k]))
