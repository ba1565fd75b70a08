"""The most accurate f_λ with |MD| at most a target: local search in λ, by sequential linear
programming.

MD and accuracy are smooth in λ, with known slopes, except where a gap opens in an accept set; there
they change like a square root. Along parts of the frontier a gap is about to open; there the search
keeps it closed by a constraint, whose slope is known too. Each step solves a linearised problem in
a box, and then restores the constraints by Newton steps.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_fedavg.multipliers import RuleFamily, Rules, Slopes
from fairfl.solvers.numerics.interior_point import maximise

RATE = 30.0
"""Accuracy that a unit of MD beyond the target, or of MD_k with the wrong sign, costs where points
are compared.
"""
DEAR = 100.0
"""The same in the linearised problem, with MD and accuracy in units of their largest change within
the box.
"""
GAPS = 5
"""Closed gaps that the linearised problem keeps closed, for each rule: those that a step could open
first.
"""
MARGIN = 1e-10
"""Gaps are kept closed by this height: at zero a rounding opens them."""
FIRST, LARGEST, SMALLEST = 0.15, 0.5, 1e-6
"""Radii of the box, in units of the multipliers' reach: the first, the largest, and the one at
which a rule stops.
"""
SWING = 0.5
"""What MD_k may change by in a step, over the radius."""
FARTHEST = 5.0
"""What a step of one multiplier alone may change its MD_k by to first order, over the radius: the
box has no scale of its own, and some multipliers move MD_k all the way within 1e-5 of their reach.
"""
REPAIRS = 8
ABOVE = 5e-11
"""What a rule may be above its target: half of what a point of a frontier may."""
WORTH = 1e-11
"""Steps that gain less are not taken."""


def ascend(family: RuleFamily, start: Rules, target: Array, reach: Array, rounds: int) -> Rules:
    """Improve every rule: more accuracy, at |MD| <= target (B,); from above, first to the target.

    Parameters
    ----------
    start : B rules, each optimal for its budgets (``excess`` 0 up to rounding).
    target : (B,), -inf to look for the smallest |MD|.
    reach : (K,) unit of each multiplier's steps; 0 keeps it where it is.
    """
    best = start
    radius = np.full(target.size, FIRST)
    alive = np.arange(target.size)
    for _ in range(rounds):
        here, goal = best.take(alive), target[alive]
        slopes = family.slopes(here)
        step = _linearised_step(here, slopes, goal, radius[alive], reach)
        hopeful = _promise(here, slopes, goal, step) > WORTH
        alive, goal, step = alive[hopeful], goal[hopeful], step[hopeful]
        if alive.size == 0:
            break
        here = best.take(alive)
        tried = _walk(family, here, goal, step, reach)
        gain = merit(tried, goal) - merit(here, goal)
        good = gain > WORTH
        best = best.replaced(alive[good], tried.take(np.flatnonzero(good)))
        radius[alive] = np.where(
            good, np.minimum(2.0 * radius[alive], LARGEST), 0.2 * radius[alive]
        )
        alive = alive[radius[alive] > SMALLEST]
        if alive.size == 0:
            break
    return _rounded_down(family, best, target)


def _rounded_down(family: RuleFamily, rules: Rules, target: Array) -> Rules:
    """Rules above their targets by the rounding of λ, moved to the double below.

    Where clients hardly overlap, one rounding of λ changes MD by 1e-9: Newton steps end above the
    target as often as below, and a point above it is lost.
    """
    above = np.flatnonzero(np.isfinite(target) & (rules.disparity > target + ABOVE))
    if not above.size:
        return rules
    here, goal = rules.take(above), target[above]
    slope = np.sign(here.md)[:, None] * family.slopes(here).md
    spacing = np.where(here.lam != 0, np.spacing(np.abs(here.lam)), 0.0)
    most = np.abs(slope) * spacing >= np.abs(slope * spacing).max(axis=1, keepdims=True)
    best = here
    for roundings in (1, 2, 4):
        tried = family.at(here.lam - np.where(most, roundings * np.sign(slope) * spacing, 0.0))
        better = np.flatnonzero(merit(tried, goal) > merit(best, goal))
        best = best.replaced(better, tried.take(better))
    return rules.replaced(above, best)


def _promise(here: Rules, slopes: Slopes, target: Array, step: Array) -> Array:
    """The predicted gain of the steps: to first order, in accuracy to second order."""
    seeks = np.isinf(target)
    climb = (slopes.accuracy * step).sum(axis=1) - np.einsum(
        "bk,bkl,bl->b", step, slopes.values, step
    ) / 2
    moved = np.abs(here.md + (slopes.md * step).sum(axis=1)) - here.disparity
    beyond = [
        np.maximum(here.disparity + m - np.where(seeks, 0.0, target), 0.0) for m in (0.0, moved)
    ]
    side = np.where(here.lam > 0, 1.0, -1.0)
    after = np.maximum(side * (here.values + np.einsum("bkl,bl->bk", slopes.values, step)), 0.0)
    broken = here.excess.sum(axis=1) - np.where(here.excess > 0, after, 0.0).sum(axis=1)
    return np.where(seeks, -moved, climb + RATE * (beyond[0] - beyond[1])) + RATE * broken


def merit(rules: Rules, target: Array) -> Array:
    """The accuracy minus RATE times the violations; for a target of -inf, -|MD| instead of the
    accuracy.
    """
    broken = RATE * rules.excess.sum(axis=1)
    seeks = np.isinf(target)
    beyond = np.maximum(rules.disparity - np.where(seeks, 0.0, target), 0.0)
    return np.where(seeks, -rules.disparity, rules.accuracy - RATE * beyond) - broken


def _linearised_step(
    here: Rules, slopes: Slopes, target: Array, radius: Array, reach: Array
) -> Array:
    """The step (B, K) in λ that solves the linearised problem.

    Variables are the steps over radius · reach (or less, see FARTHEST), within [-1, 1], and the
    |MD| above the target.
    """
    count, k = here.lam.shape
    curvatures = np.maximum(np.einsum("bkk->bk", slopes.values), 1e-300)
    unit = radius[:, None] * np.minimum(reach, FARTHEST / curvatures)
    side = np.where(here.lam != 0, np.sign(here.lam), -np.sign(here.values))
    seeks = np.isinf(target)
    md = np.where(here.md < 0, -1.0, 1.0)[:, None] * slopes.md * unit
    rows, limits = [], []
    eye = np.broadcast_to(np.eye(k), (count, k, k))
    # λ_k keeps its sign: side·(λ + step) >= 0; a multiplier without reach stays
    room = np.abs(here.lam) / np.where(unit > 0, unit, 1.0)
    rows += [
        np.where(side[:, :, None] > 0, 1.0, -1.0) * eye,
        np.where(side[:, :, None] > 0, -1.0, 1.0) * eye,
    ]
    limits += [np.where(unit > 0, 1.0, 1e-9), np.where(unit > 0, np.minimum(room, 1.0), 1e-9)]
    # MD_k keeps the other sign
    rows.append(side[:, :, None] * slopes.values * unit[:, None, :])
    limits.append(np.maximum(-side * here.values, 0.0))
    # next to small gaps MD_k runs like the root of λ: there the box is one of rates
    rates = slopes.values * unit[:, None, :]
    rows += [rates, -rates]
    limits += [np.broadcast_to(SWING * radius[:, None], (count, k))] * 2
    closed, heights = _nearest_gaps(count, slopes, unit)
    rows.append(closed)
    limits.append(heights)
    size = np.maximum(np.abs(md).max(axis=1), 1e-300)
    rows += [-(md / size[:, None])[:, None, :], (md / size[:, None])[:, None, :]]
    across = here.disparity + np.where(seeks, 0.0, target)
    within = np.where(seeks, np.inf, target - here.disparity)
    limits += [np.clip(room / size, -1e3, 1e3)[:, None] for room in (across, within)]
    a, b = np.concatenate(rows, axis=1), np.concatenate(limits, axis=1)
    # nothing in the box reaches them, and some would be 1e100 beside others
    idle = b > 1.01 * np.abs(a).sum(axis=2)
    a, b = np.where(idle[:, :, None], 0.0, a), np.where(idle, 1.0, b)
    a = np.concatenate([a, np.zeros((*b.shape, 1))], axis=2)
    a[:, -1, -1] = -1.0  # the excess is charged, and not negative
    a = np.concatenate([a, np.zeros((count, 1, k + 1))], axis=1)
    a[:, -1, -1] = -1.0
    b = np.concatenate([b, np.zeros((count, 1))], axis=1)
    gain = np.where(seeks[:, None], -md, slopes.accuracy * unit)
    # the accuracy has the curvature -H where λ is small, which is where frontiers end
    curvature = np.zeros((count, k + 1, k + 1))
    curvature[:, :k, :k] = np.where(
        seeks[:, None, None], 0.0, slopes.values * unit[:, :, None] * unit[:, None, :]
    )
    most = np.maximum(np.abs(gain).max(axis=1), np.abs(curvature).max(axis=(1, 2)))
    charge = DEAR * np.where(most > 0, most, 1.0)[:, None]
    return maximise(np.concatenate([gain, -charge], axis=1), a, b, curvature)[:, :k] * unit


def _nearest_gaps(count: int, slopes: Slopes, unit: Array) -> tuple[Array, Array]:
    """Rows (B, GAPS, K) and limits (B, GAPS) of the constraints that keep closed what a step could
    open.
    """
    rows, limits = np.zeros((count, GAPS, unit.shape[1])), np.ones((count, GAPS))
    owner, slope, height = [], [], []
    for points, heights in zip(slopes.critical, slopes.heights, strict=True):
        closed = np.flatnonzero(points.closed)
        # maxima must not rise through zero, minima not fall
        upward = np.where(points.peak[closed], 1.0, -1.0)
        owner.append(points.owner[closed])
        slope.append(upward[:, None] * heights[closed] * unit[points.owner[closed]])
        height.append(np.abs(points.height[closed]))
    who, how, far = np.concatenate(owner), np.concatenate(slope), np.concatenate(height)
    near = far < 1.5 * np.abs(how).sum(axis=1)
    who, how, far = who[near], how[near], far[near]
    order = np.lexsort((far / np.abs(how).sum(axis=1), who))
    who, how, far = who[order], how[order], far[order]
    place = np.arange(who.size) - np.searchsorted(who, who, side="left")
    kept = place < GAPS
    rows[who[kept], place[kept]] = how[kept]
    limits[who[kept], place[kept]] = np.maximum(far[kept] - MARGIN, 0.0)
    return rows, limits


def _walk(family: RuleFamily, here: Rules, target: Array, step: Array, reach: Array) -> Rules:
    """The end of the step, or a better point that Newton steps find from there where constraints
    are violated.
    """
    lam = here.lam + step
    lam = np.where((np.abs(lam) < 1e-9 * reach) | (lam * here.lam < 0), 0.0, lam)
    trial = family.at(lam)
    best = trial
    for _ in range(REPAIRS):
        opened = trial.cuts > here.cuts
        beyond = np.where(np.isinf(target), 0.0, np.maximum(trial.disparity - target, 0.0))
        broken = opened.any(axis=1) | (beyond > 1e-13) | (trial.excess > 1e-14).any(axis=1)
        again = np.flatnonzero(broken)
        if again.size == 0:
            break
        repaired = _repaired(family, trial.take(again), target[again], opened[again], reach)
        trial = trial.replaced(again, repaired)
        better = merit(trial, target) > merit(best, target)
        best = best.replaced(np.flatnonzero(better), trial.take(np.flatnonzero(better)))
    return best


def _repaired(
    family: RuleFamily, rules: Rules, target: Array, opened: Array, reach: Array
) -> Rules:
    """One Newton step of least norm: to a closed gap where one has opened, else to the limits of MD
    and MD_k.
    """
    slopes = family.slopes(rules)
    count, k = rules.lam.shape
    rows = np.zeros((count, k + 1 + GAPS, k))
    residual = np.zeros((count, k + 1 + GAPS))
    for b in range(count):
        found, height, open_ = _close_by(slopes, b, opened[b])
        m = min(len(height), GAPS)
        rows[b, k + 1 : k + 1 + m] = np.reshape(found[:m], (m, k))
        residual[b, k + 1 : k + 1 + m] = height[:m]
        if open_:
            continue
        wrong = (rules.excess[b] > 0) | (np.abs(rules.values[b]) < 1e-9)
        rows[b, :k][wrong] = slopes.values[b][wrong]
        residual[b, :k][wrong] = np.where(rules.lam[b] != 0, rules.values[b], 0.0)[wrong]
        if np.isfinite(target[b]) and rules.disparity[b] > target[b] - 1e-9:
            rows[b, k], residual[b, k] = (
                slopes.md[b],
                rules.md[b] - np.copysign(target[b], rules.md[b]),
            )
    unit = np.where(rules.lam != 0, reach, 0.0)
    scaled = rows * unit[:, None, :]
    size = np.maximum(np.abs(scaled).max(axis=2), 1e-300)
    delta = -np.einsum(
        "bkm,bm->bk", np.linalg.pinv(scaled / size[..., None], rcond=1e-10), residual / size
    )
    delta = np.clip(delta, -0.5, 0.5) * unit
    lam = rules.lam + delta
    return family.at(np.where(lam * rules.lam < 0, 0.0, lam))


def _close_by(slopes: Slopes, b: int, opened: Array) -> tuple[list[Array], list[float], bool]:
    """Slopes of the gaps of rule ``b`` that are open (the smallest of each ``opened`` group) or
    nearly so.
    """
    rows: list[Array] = []
    residuals: list[float] = []
    for a, (points, heights) in enumerate(zip(slopes.critical, slopes.heights, strict=True)):
        mine = slice(*np.searchsorted(points.owner, [b, b + 1]))
        height, closed, slope = points.height[mine], points.closed[mine], heights[mine]
        upward = np.where(points.peak[mine], 1.0, -1.0)
        size = np.abs(height) / np.maximum(np.abs(slope).max(axis=1, initial=0.0), 1e-300)
        if opened[a] and (~closed).any():
            k = int(np.where(closed, np.inf, size).argmin())
            return [slope[k]], [float(height[k] + upward[k] * MARGIN)], True
        for k in np.flatnonzero(closed & (size < 1e-7)):
            rows.append(slope[k])
            residuals.append(float(height[k] + upward[k] * MARGIN))
    return rows, residuals, False
