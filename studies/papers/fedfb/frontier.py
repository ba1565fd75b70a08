"""The exact frontier behind the points of FedFB's synthetic tables: no classifier of any kind is
above it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl._support.checks import Array
from fairfl.sims.data.federated.fedfb_synthetic import chance_of_label
from fairfl.solvers.api import frontier
from fairfl.solvers.frontier import Frontier
from fairfl.theory.populations.federation import Federation


def people_federation(x: NDArray[Any], group: NDArray[np.int64]) -> Federation:
    """The people (N,) as one client on a finite X, each person's η = P(y=1 | x) a point with the
    mass of the group.
    """
    points, where = np.unique(chance_of_label(x[:, :2]), return_inverse=True)
    masses = np.zeros((1, 2, len(points)))
    np.add.at(masses[0], (group, where.ravel()), 1 / len(group))
    return Federation.finite(points, masses, points)


def exact_frontier(x: NDArray[Any], group: NDArray[np.int64], points: int = 200) -> Frontier:
    """CFL's frontier on these people: expected accuracy, over labels drawn by the true η, and |MD|.

    A classifier that sees all of x and a cannot do better at its |MD|: given (x, a) the label hangs
    on η(x) alone, and averaging a classifier over people of one η and group changes neither
    measure.
    """
    return frontier(people_federation(x, group), "cfl", points)


def expected_accuracy(accept: ArrayLike, x: NDArray[Any]) -> float:
    """E over labels of the accuracy of P(ŷ=1) = ``accept`` (N,) on these people."""
    eta, chance = chance_of_label(x[:, :2]), np.asarray(accept, dtype=np.float64)
    return float((eta * chance + (1 - eta) * (1 - chance)).mean())


def best_accuracy(found: Frontier, spd: float) -> float:
    """The frontier's accuracy at a disparity, or where it is beyond the frontier's end at that
    end.
    """
    reach: Array = found.disparity
    return float(found.accuracy_at(min(max(spd, float(reach[0])), float(reach[-1]))))
