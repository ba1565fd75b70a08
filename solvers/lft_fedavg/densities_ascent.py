"""The most useful rule with at most a target disparity: local search over LFT+FedAvg's solutions,
by sequential quadratic programming.

A rule is its cuts x_r, where s = u + λ·v is zero. With S_r = |s'(x_r)|, a change dλ moves the cuts
so that the accept sets grow by φ_r = v(x_r)·dλ / S_r, the rates by V φ, and the accuracy by
-λ·Vφ - φ·Sφ/2. Where a tie has a mass, S_r is zero: φ_r is free, and λ stays. With few cuts λ
changes and no cut does. So the steps are taken in the singular vectors of B = V S^-1/2: z = S^1/2 φ
= Bᵀ dλ. Each step solves a quadratic programme in a box. Its end is evaluated at λ + dλ, and where
that is not what was predicted, at the budgets.

Rules are smooth in this while no gap opens or closes in an accept set. Along parts of the frontier
a gap is about to open: each step is also tried with such gaps kept as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.frontier import MET, SLACK_BUDGET
from fairfl.solvers.numerics.critical_points import CriticalPoints, critical_points
from fairfl.solvers.numerics.dual import DualPoint, weights
from fairfl.solvers.numerics.interior_point import maximise
from fairfl.solvers.numerics.rule_family import TIGHT, RuleFamily, Rules, largest

RATE = 30.0
"""Accuracy that a unit of disparity beyond the target, or of a rate that misses its budget, costs
where points are compared.
"""
DEAR = 100.0
"""The same in the programme, with disparity and accuracy in units of their largest change within
the box.
"""
GAPS = 5
"""Gaps that the programme keeps as they are, for each rule: those that a step changes first."""
MARGIN = 1e-10
"""Gaps are kept closed by this height: at zero a rounding opens them."""
FIRST, LARGEST, SMALLEST = 0.15, 0.5, 1e-6
"""Radii of the box: the first, the largest, and the one at which a rule stops."""
SWING = 0.5
"""What a difference of rates may change by in a step, over the radius."""
FLAT, NULL = 1e5, 1e-6
"""Columns of B are cut down to the one; singular values below the other are zero."""
FAINT = 1e-10
"""Differences of rates that change by no more than this in a step do not change."""
TIED = 1e-9
"""Values this close to their budget count as reaching it."""
TRIES = (True, False), (False, False), (True, True)
"""What a step is tried with: whether budgets of zero are kept, and gaps as they are."""
REPAIRS, FASTEST = 4, 8.0
"""Corrections of a step that ends beyond the target, and the most that one is made longer."""
WORTH = 1e-8
"""Steps that gain less are not taken."""


@dataclass(frozen=True)
class Model:
    """What a step w of one rule changes to first order, |w_j| <= 1 within the box: the multipliers
    (K, n), the values (K, n), the pooled differences (M, n), and the loss |loss w|²/2 of accuracy.

    ``rows`` w <= ``limits`` keep signs and budgets; ``walls`` w <= ``room`` keep the gaps.
    ``held``: whether a budget of zero is kept whose multiplier may change its sign.
    """

    lam: Array
    values: Array
    pooled: Array
    loss: Array
    rows: Array
    limits: Array
    walls: Array
    room: Array
    held: bool


def ascend(family: RuleFamily, start: Rules, target: Array, reach: Array, rounds: int) -> Rules:
    """Improve every rule: more useful, with at most the disparities ``target`` (B,); from above,
    first to the target.

    Parameters
    ----------
    start : B rules, each optimal for its budgets (``excess`` 0 up to rounding).
    target : (B,), -inf to look for the smallest disparity.
    reach : (K,) unit of each multiplier's steps; 0 keeps it where it is.
    """
    best = start
    radius = np.full(target.size, FIRST)
    alive = np.arange(target.size)
    for _ in range(rounds):
        here, goal = best.take(alive), target[alive]
        models = _models(family, here, reach, radius[alive], hold=True)
        found, gain, most = here, np.zeros(alive.size), np.zeros(alive.size)
        for hold, walls in TRIES:
            # another model where a step does not what it promised
            differs = [m.held if not hold else not walls or m.room.size > 0 for m in models]
            rows = np.flatnonzero(np.array(differs) & (gain <= 0.3 * most))
            if not rows.size:
                continue
            own = [models[k] for k in rows]
            if not hold:
                own = _models(family, here.take(rows), reach, radius[alive[rows]], hold=False)
            steps, promise = _steps(here.take(rows), own, goal[rows], walls=walls)
            most[rows] = np.maximum(most[rows], promise)
            go = np.flatnonzero(promise > WORTH)
            rows, own, steps = rows[go], [own[k] for k in go], [steps[k] for k in go]
            if not rows.size:
                continue
            tried = _walked(family, here.take(rows), own, goal[rows], steps)
            more = merit(tried, goal[rows]) - merit(here.take(rows), goal[rows])
            better = more > np.maximum(gain[rows], WORTH)
            found = found.replaced(rows[better], tried.take(np.flatnonzero(better)))
            gain[rows] = np.maximum(gain[rows], np.where(better, more, 0.0))
        best = best.replaced(alive, found)
        radius[alive] = np.where(
            gain > 0, np.minimum(2.0 * radius[alive], LARGEST), radius[alive] / 5
        )
        alive = alive[(most > WORTH) & (radius[alive] > SMALLEST)]
        if alive.size == 0:
            break
    return best


def merit(rules: Rules, target: Array, rate: float = RATE) -> Array:
    """The accuracy minus ``rate`` times the violations; for a target of -inf, minus the disparity
    instead of the accuracy.
    """
    broken = rate * rules.excess.sum(axis=1)
    seeks = np.isinf(target)
    beyond = rules.disparity - np.where(seeks, 0.0, target)
    return np.where(seeks, -rules.disparity, rules.accuracy - missed(beyond, rate)) - broken


def missed(beyond: Array, rate: float = RATE) -> Array:
    """What it costs to be ``beyond`` a target: no step is too small that reaches it."""
    return rate * np.maximum(beyond, 0.0) + np.where(beyond > MET, 2.0 * WORTH, 0.0)


def _models(
    family: RuleFamily, rules: Rules, reach: Array, radius: Array, *, hold: bool
) -> list[Model]:
    """The models of all rules; with ``hold`` budgets of zero are kept where multipliers may change
    sign.
    """
    problem, point = family.problem, rules.point
    mixed = [weights(point.lam, rows) for rows in problem.coefficients]
    critical = critical_points(problem.profiles, mixed)
    cuts = []
    for profile, own, sets in zip(problem.profiles, mixed, point.sets, strict=True):
        slope = np.abs(np.einsum("rj,jr->r", own[sets.owner], profile.slopes(sets.cut)))
        cuts.append((profile.values(sets.cut)[1:], slope))
    return [
        _model(family, rules, b, cuts, critical, reach, radius[b], hold) for b in range(len(radius))
    ]


def _model(
    family: RuleFamily,
    rules: Rules,
    b: int,
    cuts: list[tuple[Array, Array]],
    critical: list[CriticalPoints],
    reach: Array,
    radius: float,
    hold: bool,
) -> Model:
    problem, point = family.problem, rules.point
    lam, values, client = point.lam[b], point.values[b], family.client
    at = [slice(*np.searchsorted(sets.owner, [b, b + 1])) for sets in point.sets]
    parts = [(density[:, own], slope[own]) for (density, slope), own in zip(cuts, at, strict=True)]
    v = np.concatenate(
        [rows @ d for rows, (d, _) in zip(problem.coefficients, parts, strict=True)], axis=1
    )
    w = np.concatenate(
        [rows @ d for rows, (d, _) in zip(family.pooled, parts, strict=True)], axis=1
    )
    slope = np.concatenate([s for _, s in parts])
    size = np.maximum(slope, (v * v).max(axis=0, initial=0.0) / FLAT**2)
    root = np.sqrt(np.maximum(size, 1e-300))

    local = rules.local[b]
    active = lam != 0
    bound = largest(active[None] * 1.0, client)[0] > 0
    near = family.bound & (np.abs(values) >= local[client] - TIED)
    side = np.where(active, np.sign(lam), -np.sign(values))
    free = np.flatnonzero(active | (near & (reach > 0) & (values != 0)))
    u, sigma, q = np.linalg.svd(v[free] / root)
    rank = int((sigma > NULL).sum())
    u[:, :rank] /= sigma[:rank]
    n = free.size
    change = np.zeros((2 * lam.size + len(w) + n + root.size, n))
    to_lam, to_values, to_pooled, loss, flow = np.split(
        change, np.cumsum([lam.size, lam.size, len(w), n])
    )
    to_lam[free] = u
    flow[:, :rank] = (q[:rank] / root).T
    to_values[:], to_pooled[:] = v @ flow, w @ flow
    loss[:rank, :rank] = np.eye(rank)

    # a budget of zero, or a rate beside another at one budget, is kept
    zero = local <= TIGHT
    small = hold & (np.abs(lam) <= radius * reach)
    still = np.flatnonzero(active & zero[client] & small)
    first = {i: k for k in np.flatnonzero(active)[::-1] for i in [client[k]]}
    tied = [(k, first[client[k]]) for k in np.flatnonzero(active) if first[client[k]] != k]
    change = _scaled(change, lam.size, len(w), reach, radius)
    to_values = change[lam.size : 2 * lam.size]
    kept = [to_values[k] for k in still]
    kept += [side[k] * to_values[k] - side[f] * to_values[f] for k, f in tied]
    kept = [row for row in kept if np.abs(row).max() > FAINT]
    if kept:
        within = scipy.linalg.null_space(np.array(kept), rcond=1e-10)
        change = _scaled(change @ within, lam.size, len(w), reach, radius)
    to_lam, to_values, to_pooled, loss, flow = np.split(
        change, np.cumsum([lam.size, lam.size, len(w), n])
    )
    signed = np.setdiff1d(free, still)
    budgeted = np.setdiff1d(np.flatnonzero(active), still)
    rows = [-side[signed, None] * to_lam[signed], side[budgeted, None] * to_values[budgeted]]
    limits = [np.abs(lam[signed]), np.abs(values[budgeted])]
    others = np.flatnonzero(family.bound & ~active & bound[client])
    leads = np.array([first[client[k]] for k in others], int)
    for sign in (1.0, -1.0):
        rows.append(sign * to_values[others] + side[leads, None] * to_values[leads])
        limits.append(np.maximum(local[client[others]] - sign * values[others], 0.0))
    # the box in values, multipliers and pooled differences
    swing = SWING * radius
    for sign in (1.0, -1.0):
        rows += [sign * to_values[family.bound], sign * to_lam[free]]
        limits += [np.full(family.bound.sum(), swing), radius * reach[free]]
    walls, room = _walls(family, point, b, at, critical, to_lam, flow)
    return Model(
        to_lam,
        to_values,
        to_pooled,
        loss,
        np.concatenate(rows),
        np.concatenate(limits),
        walls,
        room,
        still.size > 0,
    )


def _scaled(change: Array, k: int, m: int, reach: Array, radius: float) -> Array:
    """Columns such that |w_j| <= 1 is within the box."""
    lam, rates, _ = np.split(np.abs(change), [k, 2 * k + m])
    far = (lam / np.where(reach > 0, radius * reach, np.inf)[:, None]).max(axis=0, initial=0.0)
    return change / np.maximum(far, rates.max(axis=0, initial=0.0) / (SWING * radius)).clip(1e-300)


def _walls(
    family: RuleFamily,
    point: DualPoint,
    b: int,
    at: list[slice],
    critical: list[CriticalPoints],
    to_lam: Array,
    flow: Array,
) -> tuple[Array, Array]:
    """Rows and limits that keep closed gaps closed and open ones open, of those that steps change
    first.
    """
    rows, room, start = [], [], 0
    for p, own in enumerate(at):
        sets, points = point.sets[p], critical[p]
        count = own.stop - own.start
        moved = -np.where(sets.rising[own], 1.0, -1.0)[:, None] * flow[start : start + count]
        rows.append(-np.diff(moved, axis=0))
        room.append(np.diff(sets.cut[own]))
        start += count
        mine = slice(*np.searchsorted(points.owner, [b, b + 1]))
        closed = np.flatnonzero(points.closed[mine]) + mine.start
        # maxima must not rise through zero, minima not fall
        upward = np.where(points.peak[closed], 1.0, -1.0)
        slopes = points.values[closed, 1:] @ family.problem.coefficients[p].T
        rows.append(upward[:, None] * slopes @ to_lam)
        room.append(np.maximum(np.abs(points.height[closed]) - MARGIN, 0.0))
    a, limit = np.concatenate(rows), np.concatenate(room)
    most = np.abs(a).sum(axis=1)
    near = np.flatnonzero(limit < 1.5 * most)
    near = near[np.argsort(limit[near] / most[near], kind="stable")[:GAPS]]
    return a[near], limit[near]


def _steps(
    here: Rules, models: list[Model], target: Array, *, walls: bool
) -> tuple[list[Array], Array]:
    """The steps that solve the quadratic programmes, and the gains in merit that they promise."""
    count, most = len(models), max(m.lam.shape[1] for m in models)
    seeks = np.isinf(target)
    tables, bounds = [], []
    gain, curvature = np.zeros((count, most + 1)), np.zeros((count, most + 1, most + 1))
    for b, m in enumerate(models):
        n = m.lam.shape[1]
        pooled = here.pooled[b]
        size = max(float(np.abs(m.pooled).max(initial=0.0)), 1e-300)
        goal = 0.0 if seeks[b] else target[b]
        shared = np.concatenate([m.pooled, -m.pooled]) / size
        limit = np.clip((goal - np.append(pooled, -pooled)) / size, -1e3, 1e3)
        a = np.concatenate([m.rows, m.walls] if walls else [m.rows])
        c = np.concatenate([m.limits, m.room] if walls else [m.limits])
        # nothing in the box reaches them, and some would be 1e100 beside others
        reached = c <= 1.01 * np.abs(a).sum(axis=1)
        a, c = a[reached], c[reached]
        rows = np.zeros((len(a) + len(shared) + 2 * n + 1, most + 1))
        rows[: len(a), :n], rows[len(a) : len(a) + len(shared), :n] = a, shared
        rows[len(a) : len(a) + len(shared), -1] = -1.0
        rows[-1, -1] = -1.0
        rows[len(a) + len(shared) : -1, :n] = np.concatenate([np.eye(n), -np.eye(n)])
        tables.append(rows)
        bounds.append(np.concatenate([c, limit, np.ones(2 * n), [0.0]]))
        if seeks[b]:
            gain[b, -1] = -1.0
            continue
        gain[b, :n] = -here.lam[b] @ m.values
        curvature[b, :n, :n] = m.loss.T @ m.loss
        dear = max(float(np.abs(gain[b]).max()), float(np.abs(curvature[b]).max()))
        gain[b, -1] = -DEAR * (dear if dear > 0 else 1.0)
    height = max(map(len, tables))
    a, c = np.zeros((count, height + 2 * most, most + 1)), np.ones((count, height + 2 * most))
    for b, (rows, limit) in enumerate(zip(tables, bounds, strict=True)):
        a[b, : len(rows)], c[b, : len(limit)] = rows, limit
        n = models[b].lam.shape[1]
        for j in range(n, most):  # unknowns that this rule has not
            a[b, height + j, j], a[b, height + most + j, j] = 1.0, -1.0
    found = maximise(gain, a, c, curvature)[:, :most]
    steps = [x[: m.lam.shape[1]] for x, m in zip(found, models, strict=True)]
    return steps, np.array(
        [
            _promise(here, b, m, target[b], x)
            for b, (m, x) in enumerate(zip(models, steps, strict=True))
        ]
    )


def _promise(here: Rules, b: int, model: Model, target: float, step: Array) -> float:
    """The gain in merit that the model promises of a step."""
    before, after = here.disparity[b], np.abs(here.pooled[b] + model.pooled @ step).max(initial=0.0)
    if np.isinf(target):
        return float(before - after)
    climb = -here.lam[b] @ (model.values @ step) - ((model.loss @ step) ** 2).sum() / 2
    return float(climb + missed(before - target) - missed(after - target))


def _walked(
    family: RuleFamily, here: Rules, models: list[Model], target: Array, steps: list[Array]
) -> Rules:
    """The ends of steps, or better points that corrections to the target's disparity find from
    there: Newton's by the model, then secants.
    """
    best, steps, rows = here, [step.copy() for step in steps], np.arange(target.size)
    last = here
    pace, asked = np.ones(target.size), np.full(target.size, np.nan)
    for _ in range(1 + REPAIRS):
        own = here.take(rows)
        own_models, own_steps = [models[k] for k in rows], [steps[k] for k in rows]
        tried = _ends(family, own, last.take(rows), own_models, target[rows], own_steps)
        last = last.replaced(rows, tried)
        better = np.flatnonzero(merit(tried, target[rows]) > merit(best.take(rows), target[rows]))
        best = best.replaced(rows[better], tried.take(better))
        left = []
        for b, k in enumerate(rows):
            over = np.abs(tried.pooled[b]) - target[k]
            m = int(over.argmax())
            slope = np.sign(tried.pooled[b, m]) * models[k].pooled[m]
            sound = tried.excess[b].max(initial=0.0) <= 1e-9 and np.isfinite(target[k])
            if sound and over[m] > 1e-12 and slope.any():
                if asked[k] > over[m]:  # how much of the last correction came
                    pace[k] = np.clip(pace[k] * asked[k] / (asked[k] - over[m]), 1.0, FASTEST)
                asked[k] = over[m]
                steps[k] -= pace[k] * (over[m] + 1e-13) * slope / (slope @ slope)
                left.append(k)
        rows = np.array(left, int)
        if not rows.size:
            break
    return best


def _ends(
    family: RuleFamily,
    here: Rules,
    near: Rules,
    models: list[Model],
    target: Array,
    steps: list[Array],
) -> Rules:
    """The rules at the ends of steps: of the multipliers, or where those are not as predicted of
    the budgets, followed from rules that are ``near``, and where that fails from the step's end.
    """
    pairs = list(zip(models, steps, strict=True))
    moved = here.lam + np.stack([m.lam @ x for m, x in pairs])
    change = np.stack([m.values @ x for m, x in pairs])
    size = np.stack([np.abs(m.lam).max(axis=1, initial=0.0) for m in models])
    side = np.where(here.lam != 0, np.sign(here.lam), -np.sign(here.values))
    turned = (moved * side < 0) & (here.local[:, family.client] > TIGHT)
    moved = np.where(turned | (np.abs(moved) <= 1e-9 * size), 0.0, moved)
    tried = family.at(moved)
    off = np.abs(tried.values - here.values - change).max(axis=1)
    wrong = (tried.excess.max(axis=1) > 1e-13) | (off > 0.25 * np.abs(change).max(axis=1))
    wanted = np.maximum(-np.sign(moved) * (here.values + change), 0.0)
    bound = largest((moved != 0) * 1.0, family.client) > 0
    eps = np.where(bound, largest(wanted, family.client), SLACK_BUDGET)
    rows = np.flatnonzero(wrong)
    eps = np.where(eps[rows] <= TIGHT, 0.0, eps[rows])
    for start in (near, tried):  # the end has the gaps that open on the way
        other, met = family.follow(start.take(rows), eps)
        met &= merit(other, target[rows]) > merit(tried.take(rows), target[rows])
        tried = tried.replaced(rows[met], other.take(np.flatnonzero(met)))
        rows, eps = rows[~met], eps[~met]
    return tried
