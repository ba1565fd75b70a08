"""The pointwise minimiser of the clients' weighted losses over all functions of x and a."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special

from fairfl._support.checks import Array
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.classifiers import Classifier

REACH = 9.0
"""The grid covers the clients' means and so many standard deviations on both sides."""
GRID, BISECTIONS = 10_000, 50
"""Cells in which a change of sign is looked for, at most 0.006 wide, and steps of the bisection.
Two changes within one cell are missed; the error in accuracy is of the order of the cell's cube.
"""


def any_rule(world: World, lam: Array) -> Classifier:
    r"""argmin over all functions of x and a: accept where Σ_i P(a, i) p_i(x) (2 η(x) - ρ_ia) > 0.

    The same for 0-1 loss and for log loss, whose pointwise minimiser is log(Σ (2 - ρ) p η / Σ ρ p
    (1 - η)). The edges are roots by bisection; see ``GRID``.
    """
    rho = lam / world.shares
    edges, values = [], []
    for a in (0, 1):
        grid, density, chance = _grid(world, a)
        worth = (density * (2 * chance - rho[:, a : a + 1])).sum(axis=0)
        yes = worth > 0
        at = np.flatnonzero(yes[1:] != yes[:-1])
        low, high, rising = grid[at], grid[at + 1], yes[at + 1]
        for _ in range(BISECTIONS if at.size else 0):
            middle = (low + high) / 2
            right = (_worth(world, a, rho[:, a], middle) > 0) == rising
            low, high = np.where(right, low, middle), np.where(right, middle, high)
        edges.append((low + high) / 2)
        values.append((float(yes[0]) + np.arange(at.size + 1)) % 2)
    return Classifier(edges, values)


def _worth(world: World, a: int, rho: Array, x: Array) -> Array:
    """Σ_i P(a, i) p_i(x) (2 η(x) - ρ_i) over the largest density, (n,)."""
    return (relative(world, a, x) * (2 * special.expit(x) - rho[:, None])).sum(axis=0)


@lru_cache(maxsize=16)
def _grid(world: World, a: int) -> tuple[Array, Array, Array]:
    """Points, the clients' densities there, and η."""
    mean, sd = (np.array([row[a] for row in table]) for table in (world.mean, world.sd))
    grid = np.linspace((mean - REACH * sd).min(), (mean + REACH * sd).max(), GRID + 1)
    return grid, relative(world, a, grid), special.expit(grid)


def relative(world: World, a: int, x: Array) -> Array:
    """P(a, i) p(x | a, i) over the largest of them, (I, n): no underflow far out."""
    mean, sd = (np.array([[row[a]] for row in table]) for table in (world.mean, world.sd))
    share = (np.array(world.weight) * world.shares[:, a])[:, None]
    log = np.log(share / sd) - 0.5 * ((x - mean) / sd) ** 2
    return np.exp(log - log.max(axis=0))
