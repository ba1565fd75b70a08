"""Roots from a table against bracketed roots, on smooth functions and on those that defeat a
table.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from populations import continuous_model
from scipy import special

import fairfl as ff
from fairfl.solvers.cfl.threshold import ThresholdProblem, pooled_problem, solve_thresholds
from fairfl.solvers.numerics.inverse_table import roots_from_table
from fairfl.solvers.numerics.roots import increasing_root

SMOOTH: dict[str, Callable[[Any], Any]] = {
    "line": lambda x: 2 * x - 1,
    "exponential": np.expm1,
    "normal": lambda x: special.ndtr(3 * x - 1),
    "sine": lambda x: x + 0.9 * np.sin(x),
}
ROUGH: dict[str, Callable[[Any], Any]] = {
    "root": lambda x: np.sign(x - 0.3) * np.sqrt(np.abs(x - 0.3)),
    "jump": lambda x: np.where(x > 1 / 3, x + 1, x),
    "flat": lambda x: np.maximum(x, 0.5) + np.minimum(x, 0.25),
    "kink": lambda x: np.where(x > np.pi / 10, 100 * (x - np.pi / 10), x - np.pi / 10),
    "constant": lambda x: np.zeros_like(x),
}
NODES = np.linspace(0.0, 1.0, 129)


def goals_of(function: Callable[[Any], Any], count: int = 57) -> Any:
    ends = function(np.array([0.0, 1.0]))
    return np.linspace(ends[0], ends[1], count)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_are_inverted_to_rounding(name: str) -> None:
    function = SMOOTH[name]
    goals = goals_of(function)
    roots = roots_from_table(function, NODES, goals, 6e-16)
    assert roots.found.all()
    zero, one, everyone = np.zeros(goals.size), np.ones(goals.size), np.arange(goals.size)

    def shifted(x: Any, k: Any) -> Any:
        return function(x) - goals[k]

    twin = increasing_root(shifted, zero, one, shifted(zero, everyone), shifted(one, everyone))
    np.testing.assert_allclose(roots.x, twin, atol=5e-15)


@pytest.mark.parametrize("name", ROUGH)
def test_what_is_found_solves_and_what_is_not_is_bracketed(name: str) -> None:
    function = ROUGH[name]
    goals = goals_of(function)
    roots = roots_from_table(function, NODES, goals, 6e-16)
    assert (np.abs(function(roots.x) - goals)[roots.found] <= 6e-16).all()
    assert (function(roots.low) <= goals).all() and (goals <= function(roots.high)).all()
    assert ((roots.low <= roots.x) & (roots.x <= roots.high)).all()
    if name == "jump":  # nothing attains a goal inside the jump: it must not be reported
        assert not roots.found[(goals > 1 / 3) & (goals < 4 / 3)].any()


@given(
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.sampled_from([0.25, 1.0, 4.0]),
    st.sampled_from([0.125, 0.375, 0.5, 0.75]),
)
def test_a_sweep_of_budgets_is_one_problem_after_the_other(
    m0: float, m1: float, sd: float, q: float
) -> None:
    fed = ff.Federation.normal([[m0, m1]], sd=[[sd, 1.0]], q=q)
    free = ff.solve(fed, "cfl", np.inf).disparity
    eps = np.linspace(0.0, 1.1 * free, 41)
    problem = pooled_problem(continuous_model(fed), fed.within, fed.group_mass, eps.size)
    swept = solve_thresholds(problem, eps)
    # no table
    apart = ThresholdProblem(problem.mass, problem.etas, problem.tail, problem.log_tails)
    alone = solve_thresholds(apart, eps)
    np.testing.assert_allclose(np.abs(swept.mean_difference), np.minimum(eps, free), atol=2e-15)
    # λ itself is known to the rounding of MD over its slope
    for t, s in ((swept.t0, alone.t0), (swept.t1, alone.t1)):
        for a in (0, 1):
            np.testing.assert_allclose(
                continuous_model(fed).sf(a, t), continuous_model(fed).sf(a, s), atol=1e-12
            )


@pytest.mark.parametrize("count", [1, 200])
def test_disparities_below_the_smallest_double_in_a_sweep(count: int) -> None:
    # figure 4(b)'s client 0: MD ≈ 3e-524, so only eps = 0 binds, and a table of MD sees nothing but
    # rounding
    fed = ff.Federation.normal([[10, 9.8]], sd=0.2, q=0.2)
    eps = np.linspace(0.0, 1e-3, count)
    found = solve_thresholds(
        pooled_problem(continuous_model(fed), fed.within, fed.group_mass, count), eps
    )
    exact = ff.solve(fed, "cfl", 0.0)
    assert (
        found.multiplier[0] == pytest.approx(exact.multipliers[0], abs=1e-15)
        and found.multiplier[0] < 0
    )
    assert (found.t0[0], found.t1[0]) == pytest.approx(
        [e[0] for e in exact.classifier.edges], rel=1e-12
    )
    assert (found.multiplier[1:] == 0).all()
