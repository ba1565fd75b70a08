"""λ along its line: zeros against the solver, surrogates against their definitions, bounds against
walks.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from fairfl import solve
from fairfl.studies.crosscheck.population.fairbatch_path import (
    gap,
    line,
    masses,
    printed,
    repaired,
    rule_at,
    scores,
    walk,
    zero,
)
from fairfl.studies.crosscheck.population.worlds import figure_5, random_world

WORLDS = [figure_5("c"), random_world(0), random_world(3)]


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: w.name)
def test_the_zero_is_cfls_multiplier(world):
    """λ_1* = P(a=1) + the multiplier of MD = 0."""
    goal = zero(world, gap(world))
    assert goal == pytest.approx(
        masses(world)[1] + solve(world.federation, "cfl", eps=0.0).multipliers[0], abs=1e-9
    )
    assert rule_at(world, goal).mean_difference(world.federation) == pytest.approx(0, abs=1e-12)


def group_mean(world, a, value):
    """E[value(x, η) | a] by adaptive quadrature."""
    total = mass = 0.0
    for i, weight in enumerate(world.weight):
        share = weight * (world.q[i] if a else 1 - world.q[i])
        law = stats.norm(world.mean[i][a], world.sd[i][a])
        ends = law.mean() - 9 * law.std(), law.mean() + 9 * law.std()
        total += (
            share
            * integrate.quad(
                lambda x, law=law: law.pdf(x) * value(x), *ends, epsabs=1e-11, limit=200
            )[0]
        )
        mass += share
    return total / mass


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: w.name)
def test_surrogates_are_as_defined(world):
    low, high = line(world)
    lam = low + 0.4 * (high - low)
    s = scores(world, lam)
    loss = [
        group_mean(world, a, lambda x, a=a: special.expit(-x) * np.logaddexp(0, x + s[a]))
        - group_mean(world, a, lambda x, a=a: special.expit(x) * np.logaddexp(0, -x - s[a]))
        - group_mean(world, a, lambda x: special.expit(-x))
        for a in (0, 1)
    ]
    assert gap(world, "loss")(lam) == pytest.approx(loss[1] - loss[0], abs=1e-8)
    accepted = [group_mean(world, a, lambda x, a=a: np.logaddexp(0, -x - s[a])) for a in (0, 1)]
    assert gap(world, "acceptance")(lam) == pytest.approx(accepted[0] - accepted[1], abs=1e-8)
    assert gap(world)(lam) == pytest.approx(
        -rule_at(world, lam).mean_difference(world.federation), abs=1e-14
    )


@pytest.mark.parametrize("surrogate", ["zero_one", "loss", "acceptance"])
def test_gaps_fall_along_the_line(surrogate):
    """FedFB, lemma 23."""
    for world in WORLDS:
        low, high = line(world)
        values = [
            gap(world, surrogate)(low + p * (high - low)) for p in np.linspace(0.05, 0.95, 15)
        ]
        assert (np.diff(values) < 0).all(), world.name


@given(
    goal=st.floats(-1, 1),
    start=st.floats(-1, 1),
    alphas=st.lists(st.floats(1e-3, 1), min_size=1, max_size=30),
)
def test_no_walk_is_beyond_the_repaired_bound(goal, start, alphas):
    """F = goal - λ stands for every F that is positive before λ* and negative behind it: steps know
    its sign alone.
    """
    assume(start != goal)
    places, gaps = walk(start, np.array(alphas) / np.sqrt(2), lambda lam: goal - lam, (-1.0, 1.0))
    bound = repaired(abs(start - goal), alphas)
    moved = np.array(gaps) != 0  # at the zero itself no step is made, and the distance 0 stays
    assert (np.abs(np.array(places[1:]) - goal) <= bound + 1e-12)[moved].all()


@given(start=st.floats(0.01, 1), alphas=st.lists(st.floats(1e-3, 0.05), min_size=1, max_size=30))
def test_the_repaired_bound_is_reached(start, alphas):
    """Before any step can pass λ*, the distance is d_0 - Σ a_t, the bound itself."""
    steps = np.array(alphas) / np.sqrt(2)
    used = np.cumsum(steps)
    assume((used + steps).max() < start)
    bound = repaired(start, alphas)
    assert bound[-1] == pytest.approx(start - used[-1], abs=1e-12)
    assert printed(start, alphas)[-1] == pytest.approx(
        max(start - np.sum(alphas), alphas[-1]), abs=1e-12
    )


def test_printed_and_repaired_by_hand():
    """Steps α = √2/4, √2/10 from a distance 1/2: 1/4 and 3/20 are left; (88) says max{1/2 - √2/4,
    √2/4} and √2/10.
    """
    alphas = [2**0.5 / 4, 2**0.5 / 10]
    assert np.allclose(repaired(0.5, alphas), [0.25, 0.15])
    assert np.allclose(printed(0.5, alphas), [2**0.5 / 4, 2**0.5 / 10])


def test_no_zero_is_none():
    assert zero(WORLDS[0], lambda lam: 1.0) is None
    with pytest.raises(ValueError, match="surrogate"):
        gap(WORLDS[0], "hinge")
