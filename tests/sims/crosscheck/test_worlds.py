"""The federations of the cross-check: those of the figures, and random ones that are what their seed says."""

import json

import numpy as np
import pytest

from fairfl.figures import fedfb_figure_5, fedfb_figure_9
from fairfl.sims.crosscheck.worlds import PANELS, World, figure_5, figure_9, in_words, random_world


@pytest.mark.parametrize(("make", "figure"), [(figure_5, fedfb_figure_5), (figure_9, fedfb_figure_9)], ids=["5", "9"])
def test_the_worlds_of_the_figures_are_those_that_are_drawn(make, figure):
    for panel, drawn in zip(PANELS, figure.federations().values(), strict=True):
        world = make(panel)
        assert world.federation.model.laws == drawn.model.laws
        np.testing.assert_allclose(world.federation.mass, drawn.mass, rtol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_random_worlds(seed):
    world = random_world(seed)
    assert world == random_world(seed) and world != random_world(seed + 1)
    assert World.from_json(json.loads(json.dumps(world.to_json()))) == world
    assert 2 <= world.clients <= 4 and world.federation.n_clients == world.clients
    assert np.abs(world.mean).max() <= 3 and 0.5 <= np.min(world.sd) and np.max(world.sd) <= 2
    assert random_world(seed, clients=7).clients == 7


def test_bad_seeds():
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0, got -1"):
        random_world(-1)


@pytest.mark.parametrize(
    ("name", "words"),
    [("figure-5a", "figure 5(a)"), ("figure-9d", "figure 9(d)"), ("random-12", "random federation 12"),
     ("spread-3-1.5-0.2-0", "spread-3-1.5-0.2-0")],
)  # fmt: skip
def test_names_in_words(name, words):
    assert in_words(name) == words
