"""The frontier over budgets of a scheme that is only known point by point: LFT+FedAvg on a large finite X.

A population keeps, for every slice of disparity, the most accurate attained point, and moves its budgets by steps
that shrink: coordinate steps, faces of the box (a constraint made slack or exactly tight), and steps towards
neighbours. Every point is a certified solution for its own budgets; that none is better is not proven, only searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairfl.solvers.budgets import SLACK_BUDGET
from fairfl.solvers.frontier import non_dominated
from fairfl.theory.checks import Array

SMALLEST = 1e-7
"""Steps (as a share of a budget's reach) at which the search for the least MD ends."""


@dataclass(frozen=True)
class Family:
    """A scheme as a function of budgets.

    Attributes
    ----------
    solve : (eps (B, K), start (B, K)) -> signed MD (B,), accuracy (B,), multipliers (B, K).
    reach : (K,) budgets beyond which client k's constraint is taken to be slack. Zero for unbound clients.
    sign : sign of the unconstrained MD; all MD here are multiplied by it.
    """

    solve: Callable[[Array, Array], tuple[Array, Array, Array]]
    reach: Array
    sign: float


@dataclass(frozen=True)
class Points:
    """Attained points: signed MD (B,), accuracy (B,), eps (B, K), multipliers (B, K)."""

    md: Array
    accuracy: Array
    eps: Array
    lam: Array

    def take(self, rows: Array) -> Points:
        """The points ``rows``."""
        return Points(self.md[rows], self.accuracy[rows], self.eps[rows], self.lam[rows])

    def join(self, other: Points) -> Points:
        """Both sets of points."""
        return Points(
            np.concatenate([self.md, other.md]),
            np.concatenate([self.accuracy, other.accuracy]),
            np.concatenate([self.eps, other.eps]),
            np.concatenate([self.lam, other.lam]),
        )


def attain(family: Family, eps: Array, start: Array) -> Points:
    """Solve at eps (B, K), from the multipliers ``start`` (B, K)."""
    md, accuracy, lam = family.solve(eps, start)
    return Points(family.sign * md, accuracy, eps, lam)


def first_points(family: Family, grid: int, limit: int, rng: np.random.Generator) -> Points:
    """A grid over the box of budgets where it is small enough, else its corners, edges and random points."""
    k = family.reach.size
    bound = np.flatnonzero(family.reach > 0)
    levels = np.linspace(0.0, 1.0, grid) ** 1.5  # denser near the tight end
    if bound.size == 0:
        table = np.zeros((1, 0))
    elif grid**bound.size <= limit:
        table = np.stack(np.meshgrid(*[levels] * bound.size, indexing="ij"), axis=-1).reshape(-1, bound.size)
    else:
        drawn = rng.random((limit, bound.size)) ** 1.5
        kind = rng.random((limit, bound.size))
        drawn = np.where(kind < 0.25, 0.0, np.where(kind > 0.75, np.inf, drawn))
        common = np.repeat(levels[:, None], bound.size, axis=1)
        table = np.concatenate([common, drawn])
    eps = np.full((table.shape[0], k), SLACK_BUDGET)
    eps[:, bound] = np.minimum(np.where(np.isinf(table), SLACK_BUDGET, table * family.reach[bound]), SLACK_BUDGET)
    slack = np.full((1, k), SLACK_BUDGET)
    eps = np.concatenate([slack, eps])
    return attain(family, eps, np.zeros_like(eps))


def _moves(points: Points, family: Family, step: float, rng: np.random.Generator) -> tuple[Array, Array]:
    bound = np.flatnonzero(family.reach > 0)
    scale = family.reach
    out, start = [], []
    slack = points.lam == 0
    here = _binding(points, family)
    chosen = bound if bound.size <= 6 else rng.choice(bound, 6, replace=False)
    for c in chosen:
        for direction in (-1.0, 1.0):
            moved = points.eps.copy()
            moved[:, c] = np.clip(here[:, c] + direction * step * scale[c], 0.0, SLACK_BUDGET)
            out.append(moved)
            start.append(points.lam)
    # along the curve: towards the next point, and a random direction in all coordinates
    shuffled = here + step * scale * rng.normal(size=here.shape)
    out.append(np.where(slack & (rng.random(here.shape) < 0.5), points.eps, np.clip(shuffled, 0.0, SLACK_BUDGET)))
    start.append(points.lam)
    if points.md.size > 1:
        mix = rng.random((points.md.size - 1, 1))
        out.append(np.clip((1 - mix) * here[:-1] + mix * here[1:], 0.0, SLACK_BUDGET))
        start.append(points.lam[:-1])
    return np.concatenate(out), np.concatenate(start)


def _thin(points: Points, slices: int) -> Points:
    """The most accurate point of every slice of disparity, those with MD <= 0 being one slice; non-dominated."""
    low, top = max(float(points.md.min()), 0.0), max(float(points.md.max()), 1e-300)
    label = np.where(points.md <= 0, 0, np.ceil((points.md - low) / max(top - low, 1e-300) * slices)).astype(int)
    order = np.lexsort((-points.accuracy, label))
    kept = order[np.append(True, np.diff(label[order]) != 0)]
    kept = kept[non_dominated(np.maximum(points.md[kept], 0.0), points.accuracy[kept])]
    return points.take(kept)


def search_frontier(family: Family, points: int, grid: int, limit: int, rounds: int) -> Points:
    """Non-dominated attained points by increasing signed MD; at most one with MD <= 0."""
    rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
    population = _thin(first_points(family, grid, limit, rng), points)
    step = 0.5 / max(grid - 1, 1)
    for _ in range(rounds):
        eps, start = _moves(population, family, step, rng)
        better = _thin(population.join(attain(family, eps, start)), points)
        gained = _area(better) - _area(population)
        population = better
        if gained <= 1e-3 * step:
            step *= 0.5
    return population


def _binding(points: Points, family: Family) -> Array:
    """Budgets, a slack one replaced by where it would about begin to bind."""
    return np.where((points.lam == 0) & (points.eps >= SLACK_BUDGET), family.reach, points.eps)


def _area(points: Points) -> float:
    return float(np.trapezoid(points.accuracy, points.md)) if points.md.size > 1 else 0.0


def search_minimum(family: Family, grid: int, limit: int, rounds: int) -> Points:
    """The point of least signed MD that a shrinking search from several starts finds (one point)."""
    rng = np.random.default_rng(1)
    found = first_points(family, grid, limit, rng)
    best = found.take(np.argsort(found.md, kind="stable")[:5])
    steps = np.full(best.md.size, 0.5 / max(grid - 1, 1))
    for _ in range(rounds):
        if best.md.min() <= 0 or steps.max() < SMALLEST:
            break
        eps, start = _moves(best, family, float(steps[0]), rng)
        joined = best.join(attain(family, eps, start))
        new = joined.take(np.argsort(joined.md, kind="stable")[: best.md.size])
        if new.md[0] > best.md[0] - 1e-3 * steps[0]:
            steps = 0.4 * steps
        best = new
    return best.take(np.array([int(best.md.argmin())]))
