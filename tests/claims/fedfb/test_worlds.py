"""The exact setting of section 3 against sums, its own definition, and fairfl's solvers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairfl as ff
from fairfl.claims.fedfb.lemma_7 import quantile
from fairfl.claims.fedfb.worlds import Clients, Population, gain, masses, rate, worlds

UNIT = st.integers(0, 24).map(lambda k: Fraction(k, 24))
LAWS = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any).map(masses)


@given(LAWS, UNIT)
def test_rates_and_gains_are_sums_over_a_fine_grid(law, t):
    # every threshold is on the grid, and 2u - 1 is linear: the midpoint rule is exact
    parts = 24 * len(law)
    points = [Fraction(2 * k + 1, 2 * parts) for k in range(parts)]
    inside = [(u, law[int(u * len(law))] * len(law) / parts) for u in points if u > t]
    assert rate(law, t) == sum(m for _, m in inside)
    assert gain(law, t) == sum((2 * u - 1) * m for u, m in inside)


@given(LAWS, UNIT)
def test_a_quantile_has_its_rate(law, share):
    assert rate(law, quantile(law, share)) == share


@given(worlds(1, 3, minimum=0), st.integers(-12, 12).map(lambda k: Fraction(k, 12)))
def test_a_preimage_is_all_of_it(instance, value):
    population = Clients.of(**instance).pooled
    low, high = population.preimage(value)
    assert -population.reach <= low <= high <= population.reach
    assert population.g(low) == population.g(high) == population.g((low + high) / 2) == value
    step = Fraction(1, 10**9)
    assert low - step < -population.reach or population.g(low - step) < value
    assert high + step > population.reach or population.g(high + step) > value


def test_a_value_out_of_range_is_named():
    population = Clients.of([[[1], [1]]], Fraction(1, 2)).pooled
    with pytest.raises(ValueError, match="value must lie in"):
        population.preimage(Fraction(2))


@given(worlds(2, 3, equal=False))
def test_pooled_rates_count_people(instance):
    world = Clients.of(**instance)
    rule = Fraction(1, 2), Fraction(1, 3)
    people = {(i, a): c.shares[a] for i, c in enumerate(world.clients) for a in (0, 1)}
    for a in (0, 1):
        accepted = sum(people[i, a] * world.clients[i].rate(a, rule[a]) for i in (0, 1))
        assert world.pooled.rate(a, rule[a]) == accepted / (people[0, a] + people[1, a])
    assert world.pooled.accuracy(rule) == sum(c.accuracy(rule) for c in world.clients) / 2


@pytest.mark.parametrize("eps", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("q", [(0.25, 0.25), (0.25, 0.625)])
def test_optima_and_ensembles_are_those_of_the_solvers_on_a_fine_grid(eps, q):
    laws = [[[1, 2, 3, 4], [4, 3, 2, 1]], [[1, 1, 1, 1], [1, 2, 2, 1]]]
    world = Clients.of(laws, [Fraction(v) for v in q])
    count = 800
    u = (np.arange(count) + 0.5) / count
    mass = np.zeros((2, 2, count))
    for i, client in enumerate(world.clients):
        for a in (0, 1):
            cells = np.array([float(m) for m in client.laws[a]])
            mass[i, a] = np.repeat(cells * 4 / count, count // 4) * float(client.shares[a])
    federation = ff.Federation.finite(u, mass, u)
    budget = Fraction(eps)
    best = ff.solve(federation, "cfl", eps).accuracy
    assert float(world.pooled.best(budget)) == pytest.approx(best, abs=1e-5)
    difference, accuracy = world.ensemble([client.multiplier(budget) for client in world.clients])
    solution = ff.solve(federation, "lft_ensemble", eps)
    # on the grid one cell is split at random where the law moves a threshold within it
    assert float(difference) == pytest.approx(solution.mean_difference, abs=1 / count)
    assert float(accuracy) == pytest.approx(solution.accuracy, abs=0.1 / count)


def test_the_multiplier_next_to_zero_is_taken_where_g_is_flat():
    population = Population((masses([1, 0, 0, 3]), masses([3, 0, 0, 1])), Fraction(1, 2))
    assert population.preimage(Fraction(1, 2)) == (Fraction(-1, 4), Fraction(1, 4))
    assert population.multiplier(Fraction(1)) == 0
