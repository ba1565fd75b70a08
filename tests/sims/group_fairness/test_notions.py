"""F, μ, λ and the weights of each notion: by hand, and the difference of rates that one is."""

from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.engine.group_label_sums import CellSums
from fairfl.sims.group_fairness.fairbatch import FairBatch
from fairfl.sims.group_fairness.notions import NOTIONS

ROOT2 = 2**0.5
# People n[a][y] and sums of losses s[a][y] of two clients. Groups 0 and 1 first; group 2 for three
# groups.
COUNTS = np.array([[[1, 2], [1, 1], [1, 1]], [[1, 1], [0, 3], [2, 1]]], dtype=float)
SUMS = np.array([[[1, 0], [0, 1], [0.5, 1]], [[0, 1], [0, 1], [0.5, 0]]])


def step(notion, counts, sums, alpha=0.1, **options):
    rule = FairBatch(notion, alpha, **options)
    sizes = rule.rules.people(rule.rules.enrol(counts).sum(0))
    total = rule.rules.statistics(sums, counts, np.arange(len(counts)), sizes).sum(0)
    lam = rule.rules.initial(sizes)
    return sizes, lam, rule.rules.direction(total, sizes), rule.step(lam, total, sizes, 0)


def test_parity_of_three_groups_by_hand():
    """Group 2: n = (3, 2), losses (1, 1): F_2 = L'_02 - L'_12 - (L'_00 - L'_10) + 2/5 - 3/5 = 0 - 0
    - 1/5.

    μ = (2/5, -1/5, -1/5), of length sqrt(6)/5; λ starts at 1/3 each.
    """
    _, lam, mu, new = step("dp", COUNTS, SUMS)
    np.testing.assert_allclose(mu, [0.4, -0.2, -0.2], atol=1e-15)
    np.testing.assert_allclose(lam, [1 / 3] * 3)
    np.testing.assert_allclose(new, 1 / 3 + 0.1 / 6**0.5 * np.array([2, -1, -1]))


def test_odds_of_three_groups_by_hand():
    """Mean losses of label 0: 1/2, 0/1, 1/3, of label 1: 1/3, 2/4, 1/2: μ = (-1/2, -1/6, 1/6, 1/6),
    length 1/sqrt(3).

    n = 15, λ = (1, 3, 4, 2)/15. A step of 0.05 is 0.05 sqrt(3) μ; one of 0.5 is projected label by
    label: 0.5 sqrt(3) (-1/2, -1/6) = (-.433, -.144) takes label 0's (.067, .2) to (-.366, .056),
    and so to (0, .056); 0.5 sqrt(3) (1/6, 1/6) = (.144, .144) takes label 1's (.267, .133) to
    (.411, .278), whose sum .689 is over the cap 9/15 = .6 by .089: both fall by half of it.
    """
    sizes, lam, mu, new = step("eodds", COUNTS, SUMS, alpha=0.05)
    np.testing.assert_allclose(lam, np.array([1, 3, 4, 2]) / 15)
    np.testing.assert_allclose(mu, [-1 / 2, -1 / 6, 1 / 6, 1 / 6])
    np.testing.assert_allclose(new, lam + 0.05 * 3**0.5 * mu)
    table = NOTIONS["eodds"].table(new, sizes, COUNTS)
    rest = [6 / 15 - new[:2].sum(), 9 / 15 - new[2:].sum()]  # group 0's, of the caps n_{y,*}/n
    by_cell = 15 * np.array(
        [[rest[0] / 2, rest[1] / 3], [new[0] / 1, new[2] / 4], [new[1] / 3, new[3] / 2]]
    )
    np.testing.assert_allclose(table, by_cell)
    moved = lam + 0.5 * 3**0.5 * mu
    half = (moved[2:].sum() - 0.6) / 2
    expected = [0.0, moved[1], moved[2] - half, moved[3] - half]
    np.testing.assert_allclose(step("eodds", COUNTS, SUMS, alpha=0.5)[3], expected)
    np.testing.assert_allclose(expected, [0, 0.056, 0.367, 0.233], atol=5e-4)


def test_opportunity_of_three_groups_by_hand():
    """λ = (4, 2)/15 + 0.05/sqrt(2) (1, 1); cell (a, 1) weighs n λ_a/n_{1,a}, group 0 what is left
    of the cap 9/15.
    """
    sizes, _, _, new = step("eo", COUNTS, SUMS, alpha=0.05)
    np.testing.assert_allclose(new, np.array([4, 2]) / 15 + 0.05 / ROOT2)
    expected = [[1, 15 / 3 * (0.6 - new.sum())], [1, 15 / 4 * new[0]], [1, 15 / 2 * new[1]]]
    np.testing.assert_allclose(NOTIONS["eo"].table(new, sizes, COUNTS), expected)


def test_client_parity_of_three_clients_by_hand():
    """Clients of 4, 8 and 8 with losses 4, 2 and 4: means 1, 1/4, 1/2, μ = (-3/4, -1/2), of length
    sqrt(13)/4.

    λ = (8, 8)/20 falls by 0.1 (3, 2)/sqrt(13). With the first two exchanged μ = (3/4, 1/4), of
    length sqrt(10)/4, and λ = (4, 8)/20 rises by 0.5 (3, 1)/sqrt(10) to (.674, .558): .232 over the
    sum of one that is left, half of it each.
    """
    counts = np.array([[[1, 1], [1, 1]], [[2, 2], [2, 2]], [[2, 2], [2, 2]]], dtype=float)
    sums = counts * np.array([1, 1 / 4, 1 / 2])[:, None, None]
    sizes, lam, mu, new = step("cp", counts, sums)
    assert sizes.tolist() == [4, 8, 8] and lam.tolist() == [0.4, 0.4]
    np.testing.assert_allclose(mu, [-3 / 4, -1 / 2])
    np.testing.assert_allclose(new, 0.4 - 0.1 * np.array([3, 2]) / 13**0.5)
    table = NOTIONS["cp"].table(new, sizes, counts)
    np.testing.assert_allclose(table.ravel(), 20 * np.array([1 - new.sum(), *new]) / [4, 8, 8])
    order = [1, 0, 2]
    _, lam, mu, new = step("cp", counts[order], sums[order], alpha=0.5)
    np.testing.assert_allclose(mu, [3 / 4, 1 / 4])
    far = lam + 0.5 * np.array([3, 1]) / 10**0.5
    np.testing.assert_allclose(new, far - (far.sum() - 1) / 2)
    np.testing.assert_allclose(new, [0.558, 0.442], atol=5e-4)


@pytest.mark.parametrize(
    ("decay", "number", "length"), [(0.0, 3, 0.1), (0.5, 3, 0.05), (1.0, 3, 0.025), (1.0, 0, 0.1)]
)
def test_steps_shrink_by_their_number(decay, number, length):
    """α_t = 0.1/4^decay at t = 3; of two groups' parity each λ moves by 1/sqrt(2) of it."""
    rule, counts, sums = FairBatch("dp", 0.1, decay=decay), COUNTS[:, :2], SUMS[:, :2]
    sizes = counts.sum(0)
    total = rule.rules.statistics(sums, counts, np.arange(2), sizes).sum(0)
    new = rule.step(np.array([0.5, 0.5]), total, sizes, number)
    np.testing.assert_allclose(new, [0.5 + length / ROOT2, 0.5 - length / ROOT2])


def test_without_the_norm_the_step_is_alpha_mu():
    """μ = (1/5, -1/5) as above: λ = 1/2 ± 0.1/5."""
    new = step("dp", COUNTS[:, :2], SUMS[:, :2], normalised=False)[3]
    np.testing.assert_allclose(new, [0.52, 0.48])


@pytest.mark.parametrize("budget", [0.0, 1e-12])
@pytest.mark.parametrize("rounding", [0.0, 1e-11])
def test_no_direction_no_step(rounding, budget):
    """Equal mean losses but for a masked sum's rounding: λ stays, where α/||μ|| has no value."""
    sums = COUNTS[:, :2] * [[1.0], [1 + rounding]]
    _, lam, mu, new = step("eo", COUNTS[:, :2], sums, budget=budget)
    assert np.abs(mu).max() == pytest.approx(rounding, rel=1e-4)
    assert (new == lam).all()


@pytest.mark.parametrize("name", ["dp", "eo", "eodds", "cp"])
@pytest.mark.parametrize("groups", [2, 3, 5])
def test_first_weights_are_one(name, groups):
    counts = np.random.default_rng(groups).integers(1, 9, (3, groups, 2)).astype(float)
    sizes, lam, _, _ = step(name, counts, counts)
    np.testing.assert_allclose(NOTIONS[name].table(lam, sizes, counts), 1.0, rtol=1e-12)
    np.testing.assert_allclose(NOTIONS[name].project(lam, sizes), lam, rtol=1e-12)


@given(st.integers(1, 4), st.integers(2, 4), st.integers(0, 10**6))
def test_zero_one_gap_is_the_difference_of_rates(clients, groups, seed):
    """F_a = P(ŷ=1 | a) - P(ŷ=1 | 0), summed over any clients; wrong <= people in each cell."""
    # (K, A, y, 2): (people beyond the wrong, wrong)
    cells = np.random.default_rng(seed).integers(0, 6, (clients, groups, 2, 2))
    wrong, people = cells[..., 1], cells.sum(-1)
    if (people.sum((0, 2)) == 0).any():
        return
    notion = NOTIONS["dp"]
    sizes = notion.people(notion.enrol(people.astype(float)).sum(0))
    counted = wrong.astype(float), people.astype(float), np.arange(clients)
    mu = notion.direction(notion.statistics(*counted, sizes).sum(0), sizes)
    w, n = wrong.sum(0), people.sum(0)
    rates = [Q(int(w[a, 0] + n[a, 1] - w[a, 1]), int(n[a].sum())) for a in range(len(w))]
    exact = [float(rate - rates[0]) for rate in rates[1:]]
    np.testing.assert_allclose(mu[1:], exact, atol=1e-13)
    np.testing.assert_allclose(mu[0], -sum(exact), atol=1e-13)


@pytest.mark.parametrize("name", ["dp", "eo", "eodds"])
def test_group_of_nobody_is_an_error(name):
    counts = COUNTS.copy()
    counts[:, 1] = 0
    with pytest.raises(ValueError, match="group 1 must have people"):
        NOTIONS[name].people(NOTIONS[name].enrol(counts).sum(0))


def test_a_group_without_positives_has_parity_and_no_opportunity():
    counts = COUNTS.copy()
    counts[:, 1, 1] = 0
    assert NOTIONS["dp"].people(counts.sum(0).ravel()).shape == (3, 2)
    with pytest.raises(ValueError, match="group 1 must have people of label 1"):
        NOTIONS["eo"].people(counts.sum(0).ravel())


def test_surrogates_agree_on_zero_one_loss():
    """With ℓ(1, ŷ) by wrong decisions, "acceptance" is "zero_one"."""
    wrong = np.array([[[1, 0], [0, 1], [1, 1]], [[0, 1], [0, 1], [1, 0]]], dtype=float)
    accepting = np.stack([COUNTS[:, :, 0] - wrong[:, :, 0], wrong[:, :, 1]], axis=2)
    cells = CellSums(COUNTS, wrong, wrong, accepting)
    for surrogate in ("loss", "acceptance"):
        np.testing.assert_array_equal(FairBatch("dp", surrogate=surrogate).sums(cells), wrong)
