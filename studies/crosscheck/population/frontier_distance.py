"""Distances of learned rules from the exact frontiers, which no rule can exceed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats
from fairfl.solvers.api import frontier
from fairfl.solvers.frontier import Frontier
from fairfl.studies.crosscheck.population.worlds import World

TOLERANCE = 1e-9
"""Of the hard inequality. Rates and accuracies of step functions are exact to some 1e-13, the
frontier to 1e-10.
"""


@lru_cache(maxsize=128)
def exact(world: World, scheme: str = "cfl", points: int = 60) -> Frontier:
    """The frontier, solved once."""
    return frontier(world.federation, scheme, points)


def below(world: World, disparity: ArrayLike, accuracy: ArrayLike, scheme: str = "cfl") -> Array:
    """How much more accurate the scheme's best rule with at most the same |MD| is; NaN where it
    reaches no such |MD|.

    For "cfl" it is never negative: its frontier bounds every rule of (x, a), and a vote of several
    as well, whose accuracy and MD are means of theirs.
    """
    curve, d = exact(world, scheme), as_floats("disparity", disparity)
    reached = d >= curve.disparity[0]
    best = np.full(d.shape, np.nan)
    best[reached] = curve.accuracy_at(d[reached])
    return best - as_floats("accuracy", accuracy)
