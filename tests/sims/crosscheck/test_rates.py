"""Rates of powers, of noise about them, and what cannot be told."""

import numpy as np
import pytest

from fairfl.sims.crosscheck.rates import Rate

SIZES = np.array([100, 400, 1600, 6400])


@pytest.mark.parametrize("power", [-1.0, -0.5, 0.0])
def test_the_slope_of_a_power(power):
    rate = Rate.of(SIZES, 3.0 * SIZES**power)
    assert rate.slope == pytest.approx(power) and rate.high - rate.low < 1e-6
    assert rate.is_near(power + 0.2) is False and rate.is_near(power - 0.05) is True


def test_root_mean_squares_by_size():
    """Distances 3 and 4 have root mean square 5/√2 at every size: no slope."""
    rate = Rate.of(np.repeat(SIZES, 2), np.tile([3.0, 4.0], 4))
    assert rate.slope == pytest.approx(0, abs=1e-12)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    sizes = np.repeat(SIZES, 20)
    inside = [
        (rate := Rate.of(sizes, np.abs(rng.normal(size=sizes.size)) / np.sqrt(sizes))).low <= -0.5 <= rate.high
        for _ in range(400)
    ]
    assert 0.9 < np.mean(inside) < 0.99


def test_what_is_too_wide_is_not_told():
    wide = Rate(-0.5, -3.0, 2.0)
    assert wide.is_near(-0.5) is None and wide.is_near(5.0) is False and Rate(-0.5, -0.6, -0.4).is_near(-0.5) is True


@pytest.mark.parametrize(
    ("sizes", "distances", "message"),
    [([1, 2, 2], [1, 1, 1], "sizes must be at least three"), ([0, 1, 2], [1, 1, 1], "all positive"),
     ([1, 2, 3], [1, 0, 1], "distances must not vanish, got 0 at size 2")],
    ids=["few", "zero", "vanishing"],
)  # fmt: skip
def test_bad_rates(sizes, distances, message):
    with pytest.raises(ValueError, match=message):
        Rate.of(sizes, distances)
