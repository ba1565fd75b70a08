"""Rates of powers, of noise about them, of worlds that differ in level, and what cannot be told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairfl.studies.crosscheck.rates import TOO_FEW, Rate, rate_text

SIZES = np.array([100, 400, 1600, 6400])


ONE = np.full(4, "a")


@pytest.mark.parametrize("power", [-1.0, -0.5, 0.0])
def test_the_slope_of_a_power(power):
    rate = Rate.of(SIZES, 3.0 * SIZES**power, ONE)
    assert rate.slope == pytest.approx(power)
    assert rate.high - rate.low < 1e-6
    assert rate.sizes == tuple(SIZES)
    assert rate.is_near(power + 0.2) is False and rate.is_near(power - 0.05) is True


def test_root_mean_squares_by_size():
    """Distances 3 and 4 have root mean square 5/√2 at every size: no slope."""
    rate = Rate.of(np.repeat(SIZES, 2), np.tile([3.0, 4.0], 4), np.repeat(ONE, 2))
    assert rate.slope == pytest.approx(0, abs=1e-12)


@given(
    st.lists(st.tuples(st.floats(1e-6, 1e6), st.floats(-2, 1)), min_size=1, max_size=5),
    st.floats(1e-9, 1e9),
)
def test_levels_and_sizes_of_one_world_are_no_slope(worlds, odd):
    """The mean of the worlds' slopes, whatever their levels, and sizes of one's own."""
    names = np.array([f"w{k}" for k in range(len(worlds))])
    sizes, named = np.tile(SIZES, len(worlds)), np.repeat(names, 4)
    distances = np.concatenate([level * SIZES**power for level, power in worlds])
    rate = Rate.of(sizes, distances, named)
    assert rate.slope == pytest.approx(np.mean([power for _, power in worlds]), abs=1e-9)
    assert rate.by_world == pytest.approx([power for _, power in worlds], abs=1e-9)
    if len(worlds) > 1:
        assert Rate.of([*sizes, 1e6], [*distances, odd], [*named, "w0"]) == rate


def test_the_interval_of_several_worlds_by_least_squares():
    """Against numpy's least squares on log size and a column a world."""
    rng = np.random.default_rng(1)
    sizes, named = np.tile(SIZES, 3), np.repeat(["a", "b", "c"], 4)
    distances = np.exp(rng.normal(size=12)) / sizes
    columns = np.column_stack([np.log(sizes), *(named == name for name in "abc")]).astype(float)
    coefficients, (rest,), *_ = np.linalg.lstsq(columns, np.log(distances), rcond=None)
    error = np.sqrt(rest / 8 * np.linalg.inv(columns.T @ columns)[0, 0])
    rate = Rate.of(sizes, distances, named)
    half = stats.t.ppf(0.975, 8) * error
    assert (rate.slope, rate.low, rate.high) == pytest.approx(
        (coefficients[0], coefficients[0] - half, coefficients[0] + half)
    )


def test_what_is_too_wide_is_not_told():
    wide, narrow = Rate(-0.5, -3.0, 2.0, (), ()), Rate(-0.5, -0.6, -0.4, (), ())
    assert (
        wide.is_near(-0.5) is None and wide.is_near(5.0) is False and narrow.is_near(-0.5) is True
    )
    assert (
        rate_text(wide) == rate_text(None) == TOO_FEW
        and rate_text(narrow) == "n^-0.50 (95 %: -0.60 to -0.40)"
    )


def test_three_sizes_in_common_are_too_few():
    assert Rate.of(SIZES[:3], SIZES[:3], ONE[:3]) is None
    sizes, named = np.append(SIZES, SIZES[1:] * 10), np.array([*"aaaabbb"])
    assert Rate.of(sizes, 1.0 / sizes, named) is None  # four each, or nearly, but not the same
