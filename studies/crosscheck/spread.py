"""Federations along axes of heterogeneity: the clients' centres, shares of groups and η differ more and more."""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import finite, in_range, whole
from fairfl.studies.crosscheck.worlds import World

HALF = 1.0
"""Half the distance of the two groups' means within a client."""


def spread(clients: int, distance: float, shares: float, tilt: float = 0.0) -> World:
    """Clients in a row, u_i even in [-1, 1]: centres distance u_i, P(a=1 | i) = 1/2 + shares u_i, tilt_i = tilt u_i.

    Group 1's mean is 1 above the centre for even clients, and 1 below it for odd ones, as in FedFB's figure 5; sd 1.

    Errors: ValueError for fewer than two clients, shares not in [0, 0.49], and what is not finite.
    """
    u = np.linspace(-1, 1, whole("clients", clients, 2))
    in_range("shares", shares, 0.0, 0.49)
    centre = float(finite("distance", distance)) * u
    side = HALF * np.where(np.arange(clients) % 2, -1.0, 1.0)
    mean = tuple((float(c - s), float(c + s)) for c, s in zip(centre, side, strict=True))
    q = tuple(float(v) for v in 0.5 + shares * u)
    tilts = tuple(float(v) for v in float(finite("tilt", tilt)) * u)
    name = f"spread-{clients}-{distance:g}-{shares:g}-{tilt:g}"
    return World(name, mean, ((1.0, 1.0),) * clients, q, (1 / clients,) * clients, tilts)
