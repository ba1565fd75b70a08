"""The population of a world on a quadrature: exact losses, gradients and minimisers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fairfl._support.checks import Array
from fairfl.studies.crosscheck.population.features import Basis
from fairfl.studies.crosscheck.population.learned_rules import learned
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.classifiers import Classifier

REACH, ORDER = 9.0, 16
"""Standard deviations that the quadrature covers, and Gauss-Legendre nodes a panel of one."""
NEWTON, HALVINGS, DONE = 80, 40, 1e-22
GRID, BISECTIONS, THIRDS, SHALLOW = 2000, 50, 30, 0.02
"""Cells in which the pointwise rule's changes of sign are sought; a dip towards 0 within one is
followed to its bottom, from where it is shallow: the worth is relative to the largest density, and
a cell at most 0.03 wide.
"""


@dataclass(frozen=True, eq=False)
class MeanField:
    """P(x, y, a, i) on common nodes for each group.

    Attributes
    ----------
    world : World
    nodes : for each group (Q,).
    accepted, refused : for each group (I, Q): P(y = 1, a, i) and P(y = 0, a, i) at the nodes,
        weights included.
    """

    world: World
    nodes: tuple[Array, Array]
    accepted: tuple[Array, Array]
    refused: tuple[Array, Array]

    @classmethod
    def of(cls, world: World) -> MeanField:
        """Composite Gauss-Legendre over all that the clients hold."""
        unit, weights = np.polynomial.legendre.leggauss(ORDER)
        parts = []
        for a in (0, 1):
            mean, sd = (np.array([row[a] for row in table]) for table in (world.mean, world.sd))
            low, high = (mean - REACH * sd).min(), (mean + REACH * sd).max()
            ends = np.linspace(low, high, int(np.ceil((high - low) / sd.min())) + 1)
            half = np.diff(ends)[:, None] / 2
            x = ((ends[1:] + ends[:-1])[:, None] / 2 + half * unit).ravel()
            mass = densities(world, a, x) * (half * weights).ravel()
            parts.append((x, mass * special.expit(x), mass * special.expit(-x)))
        (x0, y0, n0), (x1, y1, n1) = parts
        return cls(world, (x0, x1), (y0, y1), (n0, n1))

    def features(self, basis: Basis) -> tuple[Array, Array]:
        """The polynomials at the nodes, for each group (Q, d + 1)."""
        width = basis.degree + 1
        first, second = (
            basis(x, np.full(x.size, a))[:, a * width : (a + 1) * width]
            for a, x in enumerate(self.nodes)
        )
        return first, second


def densities(world: World, a: int, x: Array) -> Array:
    """P(a, i) p(x | a, i), (I, *x.shape)."""
    shape = (-1, *([1] * x.ndim))
    mean, sd = (
        np.array([row[a] for row in table]).reshape(shape) for table in (world.mean, world.sd)
    )
    share = (np.array(world.weight) * world.shares[:, a]).reshape(shape)
    return share * np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))


def minimiser(field: MeanField, tables: tuple[Array, Array], lam: Array, start: Array) -> Array:
    r"""argmin_w of FairBatch's pooled inner objective, each client with its own λ (I, 2); w (2, d +
    1).

    .. math::
        \sum_i \sum_a E[1_{a, i} (\rho_{ia} 1_{y=0} + (2 - \rho_{ia}) 1_{y=1}) \log(1 + e^{-(2y - 1)
        z})], \quad \rho_{ia} = \lambda^{(i)}_a / m^{(i)}_a

    by Newton's method with halved steps, each group for itself. What one local step before every
    averaging descends on. At ρ = 0 or 2 for all clients there is no minimiser: the iterations then
    end far out.
    """
    rho = lam / field.world.shares
    found = []
    for a in (0, 1):
        yes = (2 - rho[:, a]) @ field.accepted[a]
        no = rho[:, a] @ field.refused[a]
        found.append(newton(tables[a], yes, no, start[a]))
    return np.stack(found)


def newton(table: Array, yes: Array, no: Array, start: Array) -> Array:
    """argmin of Σ_q yes_q log(1 + exp(-z_q)) + no_q log(1 + exp(z_q)), z = table @ w."""

    def value(w: Array) -> float:
        z = table @ w
        return float(yes @ np.logaddexp(0, -z) + no @ np.logaddexp(0, z))

    w, current = start.copy(), value(start)
    for _ in range(NEWTON):
        chance = special.expit(table @ w)
        slope = table.T @ (no * chance - yes * (1 - chance))
        curve = (table * ((yes + no) * chance * (1 - chance))[:, None]).T @ table
        curve += 1e-14 * np.trace(curve) * np.eye(w.size)  # what is almost flat stays bounded
        move = np.linalg.solve(curve, slope)
        fall = float(slope @ move)
        if fall < DONE:
            break
        for halving in range(HALVINGS):
            after = value(w - move / 2**halving)
            if after <= current - 1e-4 * fall / 2**halving:
                break
        else:
            break
        w, current = w - move / 2**halving, after
    return w


def gradients(field: MeanField, tables: tuple[Array, Array], lam: Array, params: Array) -> Array:
    """Of each client's own mean weighted loss, at its own parameters: (I, 2, d + 1) both."""
    rho = lam / field.world.shares
    weight = np.array(field.world.weight)[:, None]
    found = np.empty_like(params)
    for a in (0, 1):
        chance = special.expit(params[:, a] @ tables[a].T)
        yes, no = (2 - rho[:, a : a + 1]) * field.accepted[a], rho[:, a : a + 1] * field.refused[a]
        found[:, a] = (no * chance - yes * (1 - chance)) @ tables[a] / weight
    return found


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
        grid, yes = _with_dips(grid, worth, partial(_worth, world, a, rho[:, a]))
        at = np.flatnonzero(yes[1:] != yes[:-1])
        low, high, rising = grid[at], grid[at + 1], yes[at + 1]
        for _ in range(BISECTIONS if at.size else 0):
            middle = (low + high) / 2
            right = (_worth(world, a, rho[:, a], middle) > 0) == rising
            low, high = np.where(right, low, middle), np.where(right, middle, high)
        edges.append((low + high) / 2)
        values.append((float(yes[0]) + np.arange(at.size + 1)) % 2)
    return Classifier(edges, values)


def _with_dips(
    grid: Array, worth: Array, function: Callable[[Array], Array]
) -> tuple[Array, NDArray[np.bool_]]:
    """The grid and whether ``worth`` is positive, with bottoms of dips through 0 between nodes."""
    yes, size = worth > 0, np.abs(worth)
    inner = (
        (size[1:-1] <= size[:-2])
        & (size[1:-1] <= size[2:])
        & (yes[1:-1] == yes[:-2])
        & (yes[1:-1] == yes[2:])
    )
    at = np.flatnonzero(inner & (size[1:-1] < SHALLOW)) + 1
    if at.size == 0:
        return grid, yes
    low, high, side = grid[at - 1], grid[at + 1], np.where(yes[at], 1.0, -1.0)
    for _ in range(THIRDS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        left = side * function(first) < side * function(second)
        low, high = np.where(left, low, first), np.where(left, second, high)
    dip = (low + high) / 2
    below = side * function(dip) <= 0
    place = np.concatenate([grid, dip[below]])
    order = np.argsort(place, kind="stable")
    return place[order], np.concatenate([yes, ~yes[at][below]])[order]


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


def rule_of(basis: Basis, params: Array) -> Classifier:
    """The rule of parameters (2, d + 1)."""
    return learned(basis, params.ravel())
