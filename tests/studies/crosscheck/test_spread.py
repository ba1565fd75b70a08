"""Federations along axes: as described, and back from JSON."""

import json

import numpy as np
import pytest

from fairfl.studies.crosscheck.worlds import World, spread


def test_clients_in_a_row():
    """u = -1, 0, 1: centres -2, 0, 2; group 1 above the centre in clients 0 and 2, below in client
    1.
    """
    world = spread(3, 2.0, 0.25, 1.0)
    assert world.mean == ((-3.0, -1.0), (1.0, -1.0), (1.0, 3.0))
    assert world.q == (0.25, 0.5, 0.75) and world.tilt == (-1.0, 0.0, 1.0)
    assert world.weight == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert World.from_json(json.loads(json.dumps(world.to_json()))) == world


def test_tilts_are_of_the_log_odds():
    """η_i = 1/2 at x = -tilt_i."""
    world = spread(2, 1.0, 0.0, 0.5)
    etas = [pair[0] for pair in world.federation.model.etas]
    assert np.allclose([eta(-t) for eta, t in zip(etas, world.tilt, strict=True)], 0.5)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((1, 1.0, 0.0), "clients"), ((2, 1.0, 0.6), "shares"), ((2, np.inf, 0.0), "distance")],
)
def test_wrong_arguments(arguments, name):
    with pytest.raises(ValueError, match=name):
        spread(*arguments)
