"""The most useful rule with at most a target disparity: sequential quadratic programming over the
multipliers of LFT+FedAvg's solutions (Nocedal and Wright, chapter 18), for many targets at once.

A rule is its cuts x_r, where s = u + λ·v is zero. A change dλ moves them by -(v(x_r)·dλ)/s'(x_r).
So the constraints' values y, the pooled differences w and the accuracy A have the derivatives
J = Σ_r v vᵀ/|s'|, Σ_r w vᵀ/|s'| and -Jλ. All conditions are linear in q = (λ, y, w, h): the signs
of λ and y, a common budget of a client's limits that bind, the target, and the heights h of s at
those of its critical points where a gap of the accept set is about to open and had better stay
closed. With the conditions' multipliers the Lagrangian is the integral of ω = u + ν·v + κ·w over
the accept set, whose second derivatives are sums over the cuts; those of the heights are left out.
Each round solves a quadratic programme in a box, and corrects its step to the conditions that are
active at its end (second-order correction).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.density_rules import TIED, RuleFamily, Rules, largest
from fairfl.solvers.lft_fedavg.closed_gaps import CLOSED, GAPS, Walls, closed_gaps, moved
from fairfl.solvers.numerics.dual import moving, weights
from fairfl.solvers.numerics.interior_point import maximise

RATE = 30.0
"""Accuracy that a unit of disparity beyond the target, or of a missed budget, costs."""
DEAR = 100.0
"""The same in the programme, with disparity and accuracy in units of their changes in the box."""
FIRST, LARGEST, SMALLEST = 0.15, 0.5, 1e-6
"""Radii of the box: the first, the largest, and the one at which a rule stops."""
FLATTEST = 1e10
"""Rates change with a multiplier by no more than this: where a tie has a mass, s is flat."""
GAIN = 1e-11
"""Steps that promise less are not taken."""
MISSED, FAR = 1e-13, 0.1
"""Conditions missed by less are met; by more, a step is not corrected."""
GAINED = 1e-9
"""A step is the last whose gain is what it promised to this: the accuracy that matters."""
CORRECTIONS = 3
"""Second-order corrections of each step."""


class Conditions(NamedTuple):
    """The conditions of B rules on multipliers λ, values y, pooled differences w and heights h.

    Of each constraint k, -side λ_k <= 0, and R times own y_k + other y_lead <= 0: the signs, and
    limits of one client no larger than that which leads. Last the heights, then w and -w. ``side``
    (B, K) is 0 where λ_k stays; ``lead`` (B, K); ``own`` and ``other`` (B, R, K); ``wall`` (B, G).
    """

    side: Array
    lead: Array
    own: Array
    other: Array
    wall: Array

    def of(self, lam: Array, y: Array, w: Array, h: Array) -> Array:
        """(B, m, ...) the left sides, of the four or of their changes (B, K, ...)."""
        side, lead, own, other, wall = (
            part.reshape(part.shape + (1,) * (lam.ndim - 2)) for part in self
        )
        ahead = np.take_along_axis(y, lead, axis=1)
        shared = own * y[:, None] + other * ahead[:, None]
        parts = -side * lam, shared.reshape(len(y), -1, *y.shape[2:]), -wall * h, w, -w
        return np.concatenate(parts, axis=1)

    def score(self, z: Array) -> Array:
        """(B, K + M) the coefficients of ω at the conditions' multipliers z (B, m)."""
        (count, k), walls = self.side.shape, self.wall.shape[1]
        shared = z[:, k : k + self.own[0].size].reshape(self.own.shape)
        nu = (self.own * shared).sum(axis=1)
        np.add.at(nu, (np.arange(count)[:, None], self.lead), (self.other * shared).sum(axis=1))
        more, less = np.split(z[:, k + self.own[0].size + walls :], 2, axis=1)
        return -np.concatenate([nu, more - less], axis=1)


class Programme(NamedTuple):
    """The quadratic programmes of B rules in steps z (B, K) within [-1, 1], as in ``best_step``; a
    step changes λ by ``basis`` z (B, K, K); ``limits`` (B, m) are those of conditions.
    """

    slope: Array
    bent: Array
    rows: Array
    left: Array
    basis: Array
    limits: Array
    conditions: Conditions
    walls: Walls

    def take(self, rows: Array) -> Programme:
        """The programmes of the rules ``rows``."""
        arrays = (part[rows] for part in self[:-2])
        groups = (type(part)._make(own[rows] for own in part) for part in self[-2:])
        return self._make((*arrays, *groups))


def climb(family: RuleFamily, start: Rules, target: Array, reach: Array, rounds: int) -> Rules:
    """The rules that sequential quadratic programming finds from ``start``.

    Parameters
    ----------
    start : B rules, each optimal for its budgets (``excess`` 0 up to rounding).
    target : (B,), -inf to look for the smallest disparity.
    reach : (K,) unit of each multiplier's steps; 0 keeps it where it is.
    """
    best, score = start, plain_score(start)
    radius, alive = np.full(target.size, FIRST), np.arange(target.size)
    failed = np.zeros(target.size, bool)
    for _ in range(rounds):
        if not alive.size:
            break
        here, goal = best.take(alive), target[alive]
        programme = _programme(family, here, goal, reach, radius[alive], score[alive])
        step, dual, promise = best_step(here, goal, *programme[:4], -1.0, 1.0)
        gain, rows = np.zeros(alive.size), np.flatnonzero(promise > GAIN)
        if rows.size:
            own, wanted = here.take(rows), goal[rows]
            found = _walked(family, own, programme.take(rows), step[rows], dual[rows], wanted)
            gain[rows] = merit(found, wanted) - merit(own, wanted)
            best = best.replaced(alive[rows], found)
        gained = np.where(np.isinf(goal), 0.0, 1.0)
        score[alive] = np.column_stack([gained, programme.conditions.score(dual)])
        good = gain > 0.1 * promise
        most = np.where((gain > 0.5 * promise) & ~failed[alive], 3.0, 1.0)
        radius[alive] = np.minimum(np.where(good, most, 0.25) * radius[alive], LARGEST)
        failed[alive] = ~good
        last = good & (np.abs(gain - promise) <= GAINED)
        done = (promise <= GAIN) | (radius[alive] < SMALLEST) | last
        alive = alive[~done]
    rows = np.flatnonzero(~best.sound)
    near, met = family.follow(best.take(rows), best.budgets[rows])
    return best.replaced(rows[met], near.take(np.flatnonzero(met)))


def plain_score(rules: Rules) -> Array:
    """(B, 1 + K + M) the coefficients of s in u, v and w: the ω of a rule at its own budgets."""
    return np.concatenate([np.ones((len(rules.lam), 1)), rules.lam, 0.0 * rules.pooled], axis=1)


def merit(rules: Rules, target: Array) -> Array:
    """The accuracy, or for a target of -inf minus the disparity, less RATE times violations."""
    broken = RATE * rules.excess.sum(axis=1)
    seeks = np.isinf(target)
    beyond = np.maximum(rules.disparity - np.where(seeks, 0.0, target), 0.0)
    return np.where(seeks, -rules.disparity, rules.accuracy - RATE * beyond) - broken


def derivatives(family: RuleFamily, here: Rules, score: Array) -> tuple[Array, Array]:
    """(B, K + M, K) the derivatives of values and pooled differences in λ, and (B, K, K) minus the
    second ones of the integral of ω, whose coefficients are ``score`` (B, 1 + K + M).
    """
    (count, k), m = here.lam.shape, here.pooled.shape[1]
    out = np.zeros((count, 2 * k + m, k))
    for p, (profile, sets) in enumerate(zip(family.problem.profiles, here.sets, strict=True)):
        shape = 3, len(profile.coefficients), *sets.cut.shape
        f, df, ddf = profile.at(sets.cut.ravel(), 1, 4).reshape(shape)
        rows = family.problem.coefficients[p]
        both = np.concatenate([rows, family.pooled[p]])
        own = weights(here.lam, rows)
        moves, of_s = moving(profile, sets, own), own.T[..., None]
        of_omega = np.concatenate([score[:, :1], score[:, 1:] @ both], axis=1).T[..., None]
        carried, dv = np.tensordot(both, f[1:], 1), np.tensordot(rows, df[1:], 1)
        v = carried[:k]
        # ties with a mass are as steep as numbers allow
        slope = (of_s * df).sum(axis=0)
        least = np.maximum((v * v).max(axis=0, initial=0.0) / FLATTEST, 1e-100)
        steep = np.where(slope < 0, -1.0, 1.0) * np.maximum(np.abs(slope), least)
        pairs = (of_omega, f), (of_omega, df), (of_s, ddf)
        omega, rise, bend = ((own * table).sum(axis=0) for own, table in pairs)
        turn = 0.5 * v * (rise / steep - omega * bend / steep**2) + dv * omega / steep
        flow = np.concatenate([carried, turn]) * np.abs(moves / steep)
        out += flow.swapaxes(0, 1) @ v.transpose(1, 2, 0)
    first, half = np.split(out, [k + m], axis=1)
    return first, half + half.swapaxes(1, 2)


def _programme(
    family: RuleFamily, here: Rules, target: Array, reach: Array, radius: Array, score: Array
) -> Programme:
    """The programmes of steps in boxes (B,), for the coefficients of ω (B, 1 + K + M)."""
    lam, values, client = here.lam, here.values, family.client
    k, m, local = lam.shape[1], here.pooled.shape[1], here.local
    active = lam != 0
    side = np.where(active, np.sign(lam), -np.sign(values))
    near = family.bound & (np.abs(values) >= local[:, client] - TIED) & (values != 0)
    free = (active | near) & (reach > 0)
    first, second = derivatives(family, here, score)
    first *= free[:, None]
    basis = free[..., None] * _basis(first, reach, radius)
    walls = closed_gaps(family, here, basis, score)
    rates, gaps = first @ basis, slice(-2 * m - GAPS, -2 * m)
    conditions = _conditions(here, np.where(free, side, 0.0), side, client, walls)
    rows = conditions.of(basis, rates[:, :k], rates[:, k:], walls.change @ basis)
    limits = np.zeros(rows.shape[:2])
    limits[:, gaps] = -CLOSED * np.abs(walls.side)
    limits[:, -2 * m :] = np.where(np.isinf(target), 0.0, target)[:, None]
    left = limits - conditions.of(lam, values, here.pooled, walls.height)
    left[:, : -2 * m] = np.maximum(left[:, : -2 * m], 0.0)
    slope = -np.einsum("bk,bkz->bz", lam, rates[:, :k])
    size, turn = np.linalg.eigh(basis.swapaxes(1, 2) @ second @ basis)
    bent = (turn * np.maximum(size, 0.0)[:, None]) @ turn.swapaxes(1, 2)
    return Programme(slope, bent, rows, left, basis, limits, conditions, walls)


def _conditions(here: Rules, kept: Array, side: Array, client: Array, walls: Walls) -> Conditions:
    """Those of rules whose multipliers and values have the signs ``side`` (B, K), ``kept`` (B, K)
    where the multipliers move. The constraint that leads binds, else it is the largest.
    """
    active, k = here.lam != 0, side.shape[1]
    size, each = np.where(active, 2.0, 0.0) + np.abs(here.values), np.arange(k)
    most = largest(size, client)[:, client]
    order = np.where(size == most, each, k)
    lead = -largest((k - order) * 1.0, client).astype(int)[:, client] + k
    leads = lead == each
    own, other = [np.where(leads, kept, 0.0)], [np.zeros(side.shape)]
    tied = ~leads & (largest(active * 1.0, client) > 0)[:, client]
    ahead = np.take_along_axis(side, lead, axis=1)
    for sign in (1.0, -1.0) if tied.any() else ():
        own.append(np.where(tied, np.where(active, sign * side, sign), 0.0))
        other.append(np.where(tied, np.where(active, -sign * ahead, ahead), 0.0))
    return Conditions(kept, lead, np.stack(own, axis=1), np.stack(other, axis=1), walls.side)


def _basis(rates: Array, reach: Array, radius: Array) -> Array:
    """(B, K, K) the singular directions of the values' changes, as long as the box allows."""
    k = rates.shape[2]
    scaled = rates * reach
    _, turn = np.linalg.eigh(scaled[:, :k].swapaxes(1, 2) @ scaled[:, :k])
    far = np.abs(turn).max(axis=1)
    swing = np.abs(scaled @ turn).max(axis=1)
    return reach[:, None] * turn * (radius[:, None] / np.maximum(far, 2.0 * swing))[:, None]


def best_step(
    here: Rules,
    target: Array,
    slope: Array,
    bent: Array,
    rows: Array,
    left: Array,
    low: Any,
    high: Any,
) -> tuple[Array, Array, Array]:
    """Steps z (B, n) between ``low`` and ``high``, the conditions' multipliers (B, m), and the
    merit that is promised.

    Accuracies change by slope·z - z·bent z/2, ``bent`` (B, n, n). Conditions are ``rows`` z <=
    ``left``, the last of them of the pooled differences and of minus these.
    """
    n, m, seeks = slope.shape[1], here.pooled.shape[1], np.isinf(target)
    unit = np.maximum(np.abs(rows[:, -2 * m :]).max(axis=(1, 2)), 1e-300)
    # one more unknown: what disparities are beyond the target, in units of what they change by
    each, every = ((0, 0), (0, 1)), ((0, 0), (0, 0), (0, 1))
    table, gain = np.pad(rows, every), np.pad(np.where(seeks[:, None], 0.0, slope), each)
    table[:, -2 * m :, n] = -unit[:, None]
    dear = np.maximum(np.abs(gain).max(axis=1), np.abs(bent).max(axis=(1, 2)))
    gain[:, n] = np.where(seeks, -unit, -DEAR * dear)
    below, above = (np.broadcast_to(end, slope.shape) for end in (low, high))
    below, above = np.pad(below, each), np.pad(above, each, constant_values=np.inf)
    x, z = maximise(gain, table, left, below, above, np.pad(bent, ((0, 0), (0, 1), (0, 1))))
    step = x[:, :n].clip(low, high)
    after = np.abs(here.pooled + (rows[:, -2 * m : -m] @ step[..., None])[..., 0])
    goal = np.where(seeks, 0.0, target)
    before = np.maximum(here.disparity - goal, 0.0)
    then = np.maximum(after.max(axis=1, initial=0.0) - goal, 0.0)
    promise = (gain[:, :n] * step).sum(axis=1) - 0.5 * np.einsum("bz,bzy,by->b", step, bent, step)
    return step, z, promise + np.where(seeks, 1.0, RATE) * (before - then)


def _walked(
    family: RuleFamily, here: Rules, programme: Programme, step: Array, dual: Array, target: Array
) -> Rules:
    """The best of the ends of steps and of their corrections to the active conditions."""
    m, side, change = here.pooled.shape[1], programme.conditions.side, programme.rows.copy()
    size = np.abs(programme.basis).max(axis=2)
    slack = programme.left - (change @ step[..., None])[..., 0]
    unit = np.abs(change).max(axis=2)
    tight = (dual * unit > slack / np.maximum(unit, 1e-300)) & (unit > 0)
    tight[:, -2 * m :] &= ~np.isinf(target)[:, None]
    best, most, rows, step = here, merit(here, target), np.arange(len(step)), step.copy()
    gaps, place = slice(-2 * m - GAPS, -2 * m), programme.walls.x.copy()

    def end(rows: Array) -> tuple[Array, Array]:
        """The multipliers and heights at the ends of the steps ``rows``."""
        basis, walls = programme.basis[rows], programme.walls._replace(x=place)
        lam = here.lam[rows] + (basis @ step[rows][..., None])[..., 0]
        lam = np.where((side[rows] != 0) & (side[rows] * lam <= 1e-9 * size[rows]), 0.0, lam)
        walls = moved(family, lam, Walls._make(part[rows] for part in walls))
        place[rows] = walls.x
        change[rows, gaps] = -walls.side[..., None] * (walls.change @ basis)
        return lam, walls.height

    def correct(rows: Array, missed: Array) -> Array:
        """Moves the ends of the steps ``rows`` by what their conditions miss; those moved."""
        tight[rows, : -2 * m] |= missed[:, : -2 * m] > MISSED
        missed = np.where(tight[rows], missed, 0.0)
        off = np.abs(missed).max(axis=1, initial=0.0)
        go = (off > MISSED) & (off < FAR)
        rows, missed = rows[go], missed[go]
        table = np.where(tight[rows, :, None], change[rows], 0.0)
        most = tight[rows].sum(axis=1).max(initial=0)
        some = np.argsort(~tight[rows], axis=1, kind="stable")[:, :most, None]
        table, missed = (np.take_along_axis(v, some, 1) for v in (table, missed[..., None]))
        try:
            step[rows] -= (np.linalg.pinv(table, rcond=1e-10) @ missed)[..., 0]
        except np.linalg.LinAlgError:  # of numbers that are not finite, or do not converge
            return rows[:0]
        return rows

    for _ in range(1 + CORRECTIONS):
        lam, heights = end(rows)
        late = np.arange(rows.size)
        for _ in range(CORRECTIONS):  # the heights need no rule
            missed = np.zeros(tight[rows[late]].shape)
            height = programme.walls.side[rows[late]] * heights[late]
            missed[:, gaps] = np.maximum(-height - programme.limits[rows[late], gaps], 0.0)
            late = late[np.isin(rows[late], correct(rows[late], missed))]
            if not late.size:
                break
            lam[late], heights[late] = end(rows[late])
        own, tried = programme.take(rows), family.at(lam)
        gain = merit(tried, target[rows])
        better = np.flatnonzero(gain > most[rows])
        best, most[rows[better]] = best.replaced(rows[better], tried.take(better)), gain[better]
        now = own.conditions.of(lam, tried.values, tried.pooled, heights)
        rows = correct(rows, now - own.limits)
        if not rows.size:
            break
    return best
