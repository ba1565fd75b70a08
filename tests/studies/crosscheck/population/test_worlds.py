"""The federations of the cross-check: the figures', and random ones by their seed."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.figures.catalog.fedfb_figures_5_and_9 import FIVE, NINE
from fairfl.studies.crosscheck.population.worlds import PANELS, World, by_name, random_world


@pytest.mark.parametrize(("number", "figure"), [(5, FIVE), (9, NINE)])
def test_the_worlds_of_the_figures_are_those_that_are_drawn(number, figure):
    for panel, federation in zip(PANELS, figure.values(), strict=True):
        world = by_name(f"figure-{number}{panel}")
        assert world.federation.model.laws == federation.model.laws
        np.testing.assert_allclose(world.federation.mass, federation.mass, rtol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_random_worlds(seed):
    world = random_world(seed)
    assert world == random_world(seed) and world != random_world(seed + 1)
    assert World.of(world.name, world.federation).mean == world.mean
    assert 2 <= world.clients <= 4 and world.federation.n_clients == world.clients
    assert np.abs(world.mean).max() <= 3 and 0.5 <= np.min(world.sd) and np.max(world.sd) <= 2
    assert random_world(seed, clients=7).clients == 7


@given(st.builds(random_world, st.integers(0, 99)))
def test_a_client_alone_keeps_all_that_is_its_own(world):
    """Every attribute there is, or will be: its entry, and its laws and η; weight alone is 1."""
    for i in range(world.clients):
        alone, names = world.alone(i), {field.name for field in fields(World)}
        assert alone.weight == (1.0,)
        assert alone.clients == 1
        assert type(alone) is type(world)
        assert alone.name != world.name
        for name in names - {"name", "weight"}:
            values = getattr(world, name)
            assert getattr(alone, name) == values[i : i + 1], name
        federation, whole, x = alone.federation, world.federation, np.linspace(-5, 5, 11)
        assert federation.model.laws[0] == whole.model.laws[i]
        np.testing.assert_allclose(federation.share[0], whole.share[i], rtol=1e-15)
        for a in (0, 1):
            np.testing.assert_array_equal(federation.model.etas[0][a](x), whole.model.etas[i][a](x))
