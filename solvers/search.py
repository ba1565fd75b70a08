"""The frontier over budgets of a scheme that is only known point by point: LFT+FedAvg.

A population keeps, for every slice of disparity, the most accurate attained point, and moves its budgets by steps
that shrink: coordinate steps, faces of the box (a constraint made slack or exactly tight), and steps towards
neighbours. Every point is a certified solution for its own budgets; that none is better is not proven, only searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairfl.solvers.frontier import non_dominated
from fairfl.theory.checks import Array

SMALLEST = 1e-5
"""Steps (as a share of a budget's reach) at which a point rests: first-order moves then gain about its square."""
FRACTIONS = (1.0, 0.3)
"""Parts of a first-order step that are tried together."""
SLACK_BUDGET = 1.0
"""A budget that binds nobody: |MD_k| never exceeds one."""


@dataclass(frozen=True)
class Family:
    """A scheme as a function of budgets.

    Attributes
    ----------
    solve : (eps (B, K), start (B, K)) -> signed MD (B,), accuracy (B,), multipliers (B, K).
    reach : (K,) budgets beyond which client k's constraint is taken to be slack. Zero for unbound clients.
    sign : sign of the unconstrained MD; all MD here are multiplied by it.
    settle : as ``solve``, to rounding, where ``solve`` is rough; None where it is not.
    slopes : (multipliers (B, K), hold) -> derivative of the signed MD in eps_k, and |MD_k|; None if unknown. Slack
        constraints have derivative 0, or with ``hold`` that of a budget lowered from |MD_k|, where it begins to bind.
    """

    solve: Callable[[Array, Array], tuple[Array, Array, Array]]
    reach: Array
    sign: float
    slopes: Callable[[Array, bool], tuple[Array, Array]] | None = None
    settle: Callable[[Array, Array], tuple[Array, Array, Array]] | None = None


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


def corner_budgets(bound: Array, count: int) -> Array:
    """Budgets (B, K) at corners of the box: every subset of constraints exactly tight, for many clients a selection."""
    rng = np.random.default_rng(2)
    if bound.size <= 5:
        tight = (np.arange(2**bound.size)[:, None] >> np.arange(bound.size)) & 1 == 1
    else:
        one = np.eye(bound.size, dtype=bool)
        tight = np.concatenate([one, ~one, rng.random((32, bound.size)) < 0.5, np.ones((1, bound.size), bool)])
    eps = np.full((tight.shape[0], count), SLACK_BUDGET)
    eps[:, bound] = np.where(tight, 0.0, SLACK_BUDGET)
    return eps


def attain(family: Family, eps: Array, start: Array, exact: bool = False) -> Points:
    """Solve at eps (B, K); ``exact``: to rounding, also where the family's ``solve`` is rough."""
    solve = family.settle if exact and family.settle is not None else family.solve
    md, accuracy, lam = solve(eps, start)
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
    if family.slopes is not None:
        # a search by gradients only moves the points it has: fill the gaps between them first
        population = _thin(population.join(_between(family, population, points)), points)
        population = _climb(family, population, points, 0.5 / max(grid - 1, 1), rounds)
        return _thin(attain(family, population.eps, population.lam, exact=True), points)
    step = 0.5 / max(grid - 1, 1)
    for _ in range(rounds):
        eps, start = _moves(population, family, step, rng)
        better = _thin(population.join(attain(family, eps, start)), points)
        gained = _area(better) - _area(population)
        population = better
        if gained <= 1e-3 * step:
            step *= 0.5
    return population


def _between(family: Family, population: Points, points: int) -> Points:
    """Points on the segments of budgets between neighbours, where these are far apart in disparity."""
    n = population.md.size
    if n < 2:
        return population
    gaps = np.diff(np.maximum(population.md, 0.0))
    count = np.maximum(np.ceil(gaps / max(float(gaps.sum()), 1e-300) * points).astype(int) - 1, 0)
    left = np.repeat(np.arange(n - 1), count)
    if left.size == 0:
        return population
    share = np.concatenate([np.arange(1, c + 1) / (c + 1) for c in count if c > 0])[:, None]
    here = _binding(population, family)
    eps = here[left] + share * (here[left + 1] - here[left])
    both_slack = (population.eps[left] >= SLACK_BUDGET) & (population.eps[left + 1] >= SLACK_BUDGET)
    return attain(family, np.where(both_slack, SLACK_BUDGET, eps), population.lam[left])


def _binding(points: Points, family: Family) -> Array:
    """Budgets, a slack one replaced by where it would about begin to bind."""
    return np.where((points.lam == 0) & (points.eps >= SLACK_BUDGET), family.reach, points.eps)


def _climb(family: Family, population: Points, points: int, step: float, rounds: int) -> Points:
    """Sequential linear steps in a trust box: gain accuracy, d acc = Σ |λ_k| d eps_k, at first-order constant MD."""
    assert family.slopes is not None
    steps = np.full(population.md.size, step)
    moving = population
    for k in range(rounds):
        # every other round slack constraints take part too: held where they are, and free to be tightened
        hold = k % 2 == 1
        slope, own = family.slopes(moving.lam, hold)
        here = np.where(moving.lam == 0, own, moving.eps) if hold else _binding(moving, family)
        room = steps[:, None] * family.reach
        low, high = np.maximum(-room, -here), np.minimum(room, SLACK_BUDGET - here)
        high = np.where(moving.lam == 0, 0.0, high)
        delta = _best_exchange(np.abs(moving.lam), slope, low, high)
        # accuracy has kinks where holes open: a whole step may jump over one that a part of it reaches
        parts = np.repeat(np.array(FRACTIONS), moving.md.size)
        again = np.tile(np.arange(moving.md.size), len(FRACTIONS))
        eps = (here + 0.0)[again] + parts[:, None] * delta[again]
        eps = np.where((moving.eps[again] >= SLACK_BUDGET) & (delta[again] == 0), SLACK_BUDGET, eps)
        tried = attain(family, np.clip(eps, 0.0, SLACK_BUDGET), moving.lam[again])
        # compare at equal MD: what the move of MD was worth is taken back at the local rate of exchange
        worth = np.where(slope != 0, np.abs(moving.lam) / np.where(slope != 0, np.abs(slope), 1.0), 0.0).max(axis=1)
        gain = tried.accuracy - moving.accuracy[again] - worth[again] * np.maximum(tried.md - moving.md[again], 0.0)
        table = gain.reshape(len(FRACTIONS), -1)
        pick = table.argmax(axis=0)
        good = table.max(axis=0) > 1e-14
        population = _thin(population.join(tried), points)
        rows = np.where(good, moving.md.size * (1 + pick), 0) + np.arange(moving.md.size)
        moving = moving.join(tried).take(rows)
        steps = np.where(good, np.minimum(1.5 * np.array(FRACTIONS)[pick] * steps, 0.5), 0.1 * steps)
        alive = steps > SMALLEST
        if not alive.any():
            break
        moving, steps = moving.take(np.flatnonzero(alive)), steps[alive]
    return population


def _best_exchange(value: Array, slope: Array, low: Array, high: Array) -> Array:
    """argmax value·δ subject to slope·δ = 0 and low <= δ <= high, row by row: a knapsack by the rate value/slope.

    With multiplier μ, δ_k = high_k where value_k > μ·slope_k, else low_k; one coordinate is fractional.
    """
    out = np.zeros(value.shape)
    for b in range(value.shape[0]):
        free = np.flatnonzero((slope[b] != 0) & (high[b] > low[b]))
        if free.size < 2:
            continue
        v, m, lo, hi = value[b, free], slope[b, free], low[b, free], high[b, free]
        rate = v / m
        best, chosen = 0.0, np.zeros(free.size)
        for k in range(free.size):
            above = v > rate[k] * m
            delta = np.where(above, hi, lo)
            rest = float(m @ delta - m[k] * delta[k])
            delta[k] = -rest / m[k]
            if lo[k] - 1e-15 <= delta[k] <= hi[k] + 1e-15 and float(v @ delta) > best:
                best, chosen = float(v @ delta), delta
        out[b, free] = chosen
    return out


def _area(points: Points) -> float:
    return float(np.trapezoid(points.accuracy, points.md)) if points.md.size > 1 else 0.0


def search_minimum(family: Family, grid: int, limit: int, rounds: int) -> Points:
    """The point of least signed MD that a shrinking search from several starts finds (one point)."""
    rng = np.random.default_rng(1)
    found = first_points(family, grid, limit, rng)
    best = found.take(np.argsort(found.md, kind="stable")[:5])
    steps = np.full(best.md.size, 0.5 / max(grid - 1, 1))
    for _ in range(rounds):
        if best.md.min() <= 0 or steps.max() < 0.01 * SMALLEST:
            break
        if family.slopes is not None:
            here = _binding(best, family)
            delta = -np.sign(family.slopes(best.lam, False)[0]) * steps[:, None] * family.reach
            eps = np.where((best.eps >= SLACK_BUDGET) & (delta == 0), SLACK_BUDGET, here + delta)
            tried = attain(family, np.clip(eps, 0.0, SLACK_BUDGET), best.lam)
            good = tried.md < best.md - 1e-15
            rows = np.where(good, np.arange(best.md.size) + best.md.size, np.arange(best.md.size))
            best = best.join(tried).take(rows)
            steps = np.where(good, np.minimum(1.3 * steps, 0.5), 0.4 * steps)
        else:
            eps, start = _moves(best, family, float(steps[0]), rng)
            joined = best.join(attain(family, eps, start))
            new = joined.take(np.argsort(joined.md, kind="stable")[: best.md.size])
            if new.md[0] > best.md[0] - 1e-3 * steps[0]:
                steps = 0.4 * steps
            best = new
    best = best.take(np.array([int(best.md.argmin())]))
    return attain(family, best.eps, best.lam, exact=True)


def connect(family: Family, fair: Points, unfair: Points, target: float) -> Points:
    """An attained point with signed MD = target between two points: eps moves on a segment, MD is continuous."""
    ends = []
    for p in (fair, unfair):
        ends.append(np.where((p.lam[0] == 0) & (p.eps[0] >= SLACK_BUDGET), family.reach, p.eps[0]))
    slack = (unfair.eps[0] >= SLACK_BUDGET) & (fair.eps[0] >= SLACK_BUDGET)
    low, high, lam = 0.0, 1.0, fair.lam
    f_low, f_high = float(fair.md[0]) - target, float(unfair.md[0]) - target
    point = fair if abs(f_low) <= abs(f_high) else unfair
    for k in range(80):
        # regula falsi, with bisection every third step
        t = low + (high - low) * (0.5 if k % 3 == 2 else np.clip(-f_low / (f_high - f_low), 0.02, 0.98))
        eps = np.where(slack, SLACK_BUDGET, ends[0] + t * (ends[1] - ends[0]))
        trial = attain(family, eps[None], lam, exact=True)
        f = float(trial.md[0]) - target
        if abs(f) <= abs(float(point.md[0]) - target):
            point = trial
        if abs(f) <= 1e-13 or high - low <= 1e-15:
            break
        lam = trial.lam
        if f < 0:
            low, f_low = t, f
        else:
            high, f_high = t, f
    return point
