"""Laws against scipy.stats, mixtures against sums of their parts, finite laws against counts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from strategies import WEIGHTS, eighths, laws, normals, others

from fairfl.theory.populations.laws import (
    ROUNDINGS,
    SLOW,
    TAIL,
    Finite,
    Mixture,
    Normal,
    Samples,
    as_law,
    check_resolved,
)

PROBES = np.array([-40.0, -8.0, -3.125, -1.0, -0.25, 0.0, 0.3, 1.0, 2.5, 6.0, 37.5])


@given(st.one_of(normals(), others()))
def test_functions_are_scipys(frozen: Any) -> None:
    law = as_law(frozen)
    for name in ("sf", "cdf", "pdf"):
        np.testing.assert_allclose(
            getattr(law, name)(PROBES), getattr(frozen, name)(PROBES), rtol=1e-12, atol=1e-300
        )
    with np.errstate(divide="ignore"):
        for name in ("logsf", "logcdf"):
            ours, theirs = getattr(law, name)(PROBES), getattr(frozen, name)(PROBES)
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


@given(laws())
def test_the_working_range_holds_all_but_the_tail(frozen: Any) -> None:
    law = as_law(frozen)
    assert law.low < law.high and law.breaks[0] == law.low and law.breaks[-1] == law.high
    assert (np.diff(law.breaks) > 0).all()
    assert float(law.cdf(law.low)) <= 3.01 * TAIL  # a mixture's ends are its parts' ends
    assert float(law.sf(law.high)) <= 3.01 * TAIL


@pytest.mark.parametrize("mean, sd", [(0, 1), (3.5, 0.2), (-1e3, 1e-3), (1e-300, 5.0)])
def test_a_frozen_norm_becomes_normal(mean: float, sd: float) -> None:
    law = as_law(stats.norm(mean, sd))
    assert isinstance(law, Normal) and law == Normal(mean, sd)


@given(st.lists(st.tuples(st.one_of(normals(), others()), WEIGHTS), min_size=1, max_size=4))
def test_a_mixture_is_the_weighted_sum(parts: Any) -> None:
    weights = np.array([w for _, w in parts])
    mixture = Mixture([law for law, _ in parts], weights)
    for name in ("sf", "cdf", "pdf"):
        expected = sum(w * getattr(law, name)(PROBES) for law, w in parts) / weights.sum()
        np.testing.assert_allclose(
            getattr(mixture, name)(PROBES), expected, rtol=1e-12, atol=1e-300
        )
        if name == "pdf":
            continue
        with np.errstate(divide="ignore"):
            logs = getattr(mixture, f"log{name}")(PROBES)
            plain = np.log(expected)
        seen = expected > 1e-290
        np.testing.assert_allclose(logs[seen], plain[seen], rtol=1e-12, atol=1e-13)


def test_a_mixtures_logarithms_outlive_its_probabilities() -> None:
    mixture = Mixture([stats.norm(0, 1), stats.norm(1, 1)], [1, 3])
    # at x = 60 the second part dominates by e^59.5: log(3/4) + log P(Z > 59)
    assert float(mixture.sf(60.0)) == 0.0
    assert float(mixture.logsf(60.0)) == pytest.approx(
        np.log(0.75) + stats.norm.logsf(59.0), rel=1e-14
    )


def test_a_finite_law_keeps_masses_with_their_points() -> None:
    law = Finite([3.0, 1.0, 2.0], [0.5, 0.125, 0.375])
    assert law.points.tolist() == [1.0, 2.0, 3.0]
    assert law.masses.tolist() == [0.125, 0.375, 0.5]


@given(st.lists(eighths(-1, 1), min_size=1, max_size=30))
def test_samples_count(values: list[float]) -> None:
    law = Samples(values)
    assert law.points.tolist() == sorted(set(values))
    expected = [values.count(p) / len(values) for p in law.points]
    np.testing.assert_allclose(law.masses, expected, rtol=1e-15)


def test_mixtures_of_mixtures_are_taken_apart() -> None:
    nested = Mixture([stats.norm(), stats.norm(2)], [1, 3])
    for _ in range(2000):
        nested = Mixture([nested], [1e308])
    assert nested.laws == (Normal(0, 1), Normal(2, 1)) and nested.weights.tolist() == [0.25, 0.75]
    both = Mixture([nested, stats.norm(5)], [1, 3])
    assert both.weights.tolist() == [1 / 16, 3 / 16, 3 / 4] and float(both.cdf(np.inf)) == 1


@given(st.floats(-1e15, 1e15), st.integers(-1074, 900))
def test_a_law_is_refused_where_doubles_do_not_hold_it(mean: float, power: int) -> None:
    law = Normal(mean, np.ldexp(1.0, power))
    low, high = law.middle
    # so many doubles lie between
    is_resolved = np.unique(np.linspace(low, high, 4 * ROUNDINGS)).size >= ROUNDINGS
    try:
        check_resolved(law, "law")
    except ValueError as error:
        assert "law must" in str(error)
        assert (
            not is_resolved
            or high - low < 1.01e-300
            or high - low < 1.01 * ROUNDINGS * np.spacing(max(-low, high))
        )
    else:
        assert is_resolved and np.isfinite(law.pdf(mean)) and np.isfinite([law.low, law.high]).all()


@pytest.mark.parametrize("name", SLOW)
def test_laws_that_take_milliseconds_a_point_are_refused_at_once(name: str) -> None:
    parameters = {"kstwo": (10,), "levy_stable": (1.5, 0.5), "studentized_range": (3, 10)}
    with pytest.raises(
        ValueError, match=f"law must have a density that is quick to compute, got {name}"
    ):
        as_law(getattr(stats, name)(*parameters[name]))
