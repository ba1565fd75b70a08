"""The test of a difference of two probabilities, by enumeration of all counts and by scipy."""

import numpy as np
import pytest
from scipy import stats

from fairfl.theory.numerics.binomials import clopper_pearson, difference_p_value


@pytest.mark.parametrize(("n", "m"), [(12, 30), (40, 25), (3, 60)])
def test_no_counts_reject_too_often(n, m):
    """Of all pairs of counts those with a p-value of α or less have a probability of α or less,
    where the first probability is above the second by the limit, or by more.
    """
    for limit in (0.0, 0.1, 0.35):
        p_value = np.array(
            [
                [difference_p_value((x, n), (y, m), limit) for y in range(m + 1)]
                for x in range(n + 1)
            ]
        )
        for second in (0.0, 0.004, 0.1, 0.3, 0.5, 0.649, 0.65):
            for more in (0.0, 0.05, 0.3, 1.0):
                first = min(second + limit + more, 1.0)
                chance = np.outer(
                    stats.binom.pmf(np.arange(n + 1), n, first),
                    stats.binom.pmf(np.arange(m + 1), m, second),
                )
                for alpha in (0.005, 0.025, 0.1, 0.4):
                    assert chance[p_value <= alpha].sum() <= alpha + 1e-12


@pytest.mark.parametrize(("x", "n", "y", "m"), [(480, 1000, 540, 1000), (30, 400, 1100, 8000)])
@pytest.mark.parametrize("limit", [0.0, 0.02])
def test_large_counts_have_nearly_the_usual_p_value(x, n, y, m, limit):
    error = np.sqrt(x / n * (1 - x / n) / n + y / m * (1 - y / m) / m)
    usual = stats.norm.cdf((x / n - y / m - limit) / error)
    assert usual < difference_p_value((x, n), (y, m), limit) < usual * 1.5 + 1e-3


def test_intervals_are_scipys_and_no_trials_say_nothing():
    for x, n in ((0, 7), (7, 7), (3, 11)):
        ends = stats.binomtest(x, n).proportion_ci(0.99, method="exact")
        assert clopper_pearson((x, n), 0.01) == pytest.approx(tuple(ends), abs=1e-9)
    assert difference_p_value((0, 0), (3, 5), 0.1) == 1.0
    # nobody of either: the larger the groups, the surer that their rates are near
    assert difference_p_value((0, 400), (0, 400), 0.05) < 1e-3
