"""The most useful rule with at most a target disparity: sequential quadratic programming over the
multipliers of LFT+FedAvg's solutions (Nocedal and Wright, chapter 18), for many targets at once.

A rule is its cuts x_r, where s = u + λ·v is zero; a change dλ moves them by -(v(x_r)·dλ)/s'(x_r),
so that values y, pooled differences w and accuracy have exact derivatives. All conditions are
linear in q = (λ, y, w, h): the signs of λ and y, a common budget of a client's limits that bind,
the target, and the heights h of s where a gap of the accept set is about to open and had better
stay closed. With the conditions' multipliers the Lagrangian is the integral of ω = u + ν·v + κ·w
over the accept set. Each round solves a quadratic programme in a box, and corrects its step to the
conditions that are active at its end (second-order correction).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules, largest
from fairfl.solvers.lft_fedavg.closed_gaps import GAPS, Walls, closed_gaps, moved
from fairfl.solvers.numerics.dual import moving, weights
from fairfl.solvers.numerics.interior_point import maximise
from fairfl.solvers.tolerances import BUDGET_TIED, CLOSED, GAINED, MULTIPLIERS_GAIN

RATE = 30.0  # accuracy that a unit of disparity beyond the target, or of a missed budget, costs
DEAR = 100.0
"""The same in the programme, with disparity and accuracy in units of their changes in the box."""
FIRST, LARGEST, SMALLEST = 0.15, 0.5, 1e-6
"""Radii of the box: the first, the largest, and the one at which a rule stops."""
FLATTEST = 1e10
"""Rates change with a multiplier by no more than this: where a tie has a mass, s is flat."""
MISSED, FAR = 1e-13, 0.1  # conditions missed by less are met; by more, a step is not corrected
CORRECTIONS = 3  # Second-order corrections of each step


class Conditions(NamedTuple):
    """The conditions of B rules on multipliers λ, values y, pooled differences w and heights h.

    -side λ_k <= 0, and R times value_signs y_k + lead_signs y_lead <= 0: the signs, and limits of
    one client no larger than that which leads; then the heights, w and -w. ``side`` (B, K) is 0
    where λ_k stays; ``lead`` (B, K); ``value_signs`` and ``lead_signs`` (B, R, K); ``wall`` (B, G).
    """

    side: Array
    lead: Array
    value_signs: Array
    lead_signs: Array
    wall: Array

    def of(self, lam: Array, y: Array, w: Array, h: Array) -> Array:
        """(B, m, ...) the left sides, of the four or of their changes (B, K, ...)."""
        side, lead, value_signs, lead_signs, wall = (
            part.reshape(part.shape + (1,) * (lam.ndim - 2)) for part in self
        )
        ahead = np.take_along_axis(y, lead, axis=1)
        shared = value_signs * y[:, None] + lead_signs * ahead[:, None]
        parts = -side * lam, shared.reshape(len(y), -1, *y.shape[2:]), -wall * h, w, -w
        return np.concatenate(parts, axis=1)

    def score(self, z: Array) -> Array:
        """(B, K + M) the coefficients of ω at the conditions' multipliers z (B, m)."""
        (count, k), walls = self.side.shape, self.wall.shape[1]
        shared = z[:, k : k + self.value_signs[0].size].reshape(self.value_signs.shape)
        nu = (self.value_signs * shared).sum(axis=1)
        at_lead = np.arange(count)[:, None], self.lead
        np.add.at(nu, at_lead, (self.lead_signs * shared).sum(axis=1))
        increases, decreases = np.split(z[:, k + self.value_signs[0].size + walls :], 2, axis=1)
        return -np.concatenate([nu, increases - decreases], axis=1)


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
        groups = (type(part)._make(array[rows] for array in part) for part in self[-2:])
        return self._make((*arrays, *groups))


def climb(family: RuleFamily, start: Rules, target: Array, reach: Array, rounds: int) -> Rules:
    """The rules that sequential quadratic programming finds from B rules ``start``, each optimal
    for its budgets, for targets (B,), -inf to look for the smallest disparity. ``reach`` (K,) is
    the unit of each multiplier's steps; 0 keeps it where it is.
    """
    best, score = start, plain_score(start)
    radius, alive = np.full(target.size, FIRST), np.arange(target.size)
    failed = np.zeros(target.size, bool)
    for _ in range(rounds):
        if not alive.size:
            break
        rules, goals = best.take(alive), target[alive]
        programme = _programme(family, rules, goals, reach, radius[alive], score[alive])
        step, dual, promise = best_step(rules, goals, *programme[:4], -1.0, 1.0)
        gain, rows = np.zeros(alive.size), np.flatnonzero(promise > MULTIPLIERS_GAIN)
        if rows.size:
            start_rules, own_goals = rules.take(rows), goals[rows]
            steps = programme.take(rows), step[rows], dual[rows]
            walk = Walk(family, start_rules, *steps, own_goals)
            walked = walk.best(own_goals)
            gain[rows] = merit(walked, own_goals) - merit(start_rules, own_goals)
            best = best.replaced(alive[rows], walked)
        gained = np.where(np.isinf(goals), 0.0, 1.0)
        score[alive] = np.column_stack([gained, programme.conditions.score(dual)])
        is_good = gain > 0.1 * promise
        growth = np.where((gain > 0.5 * promise) & ~failed[alive], 3.0, 1.0)
        radius[alive] = np.minimum(np.where(is_good, growth, 0.25) * radius[alive], LARGEST)
        failed[alive] = ~is_good
        is_last = is_good & (np.abs(gain - promise) <= GAINED)
        done = (promise <= MULTIPLIERS_GAIN) | (radius[alive] < SMALLEST) | is_last
        alive = alive[~done]
    rows = np.flatnonzero(~best.sound)
    followed, met = family.follow(best.take(rows), best.budgets[rows])
    return best.replaced(rows[met], followed.take(np.flatnonzero(met)))


def plain_score(rules: Rules) -> Array:
    """(B, 1 + K + M) the coefficients of s in u, v and w: the ω of a rule at its own budgets."""
    return np.concatenate([np.ones((len(rules.lam), 1)), rules.lam, 0.0 * rules.pooled], axis=1)


def merit(rules: Rules, target: Array) -> Array:
    """The accuracy, or for a target of -inf minus the disparity, less RATE times violations."""
    broken = RATE * rules.excess.sum(axis=1)
    seeks = np.isinf(target)
    beyond = np.maximum(rules.disparity - np.where(seeks, 0.0, target), 0.0)
    return np.where(seeks, -rules.disparity, rules.accuracy - RATE * beyond) - broken


def derivatives(family: RuleFamily, rules: Rules, score: Array) -> tuple[Array, Array]:
    """(B, K + M, K) the derivatives of values and pooled differences in λ, and (B, K, K) minus the
    second ones of the integral of ω, whose coefficients are ``score`` (B, 1 + K + M).
    """
    (count, k), m = rules.lam.shape, rules.pooled.shape[1]
    out = np.zeros((count, 2 * k + m, k))
    for p, (profile, sets) in enumerate(zip(family.problem.profiles, rules.sets, strict=True)):
        shape = 3, len(profile.coefficients), *sets.cut.shape
        f, df, ddf = profile.at(sets.cut.ravel(), 1, 4).reshape(shape)
        rows = family.problem.coefficients[p]
        both = np.concatenate([rows, family.pooled[p]])
        combination = weights(rules.lam, rows)
        moves, of_s = moving(profile, sets, combination), combination.T[..., None]
        of_omega = np.concatenate([score[:, :1], score[:, 1:] @ both], axis=1).T[..., None]
        carried, dv = np.tensordot(both, f[1:], 1), np.tensordot(rows, df[1:], 1)
        v = carried[:k]
        # ties with a mass are as steep as numbers allow
        slope = (of_s * df).sum(axis=0)
        flattest = np.maximum((v * v).max(axis=0, initial=0.0) / FLATTEST, 1e-100)
        steep = np.where(slope < 0, -1.0, 1.0) * np.maximum(np.abs(slope), flattest)
        pairs = (of_omega, f), (of_omega, df), (of_s, ddf)
        omega, rise, bend = ((coefficients * table).sum(axis=0) for coefficients, table in pairs)
        turn = 0.5 * v * (rise / steep - omega * bend / steep**2) + dv * omega / steep
        flow = np.concatenate([carried, turn]) * np.abs(moves / steep)
        out += flow.swapaxes(0, 1) @ v.transpose(1, 2, 0)
    first, half = np.split(out, [k + m], axis=1)
    return first, half + half.swapaxes(1, 2)


def _programme(
    family: RuleFamily, rules: Rules, target: Array, reach: Array, radius: Array, score: Array
) -> Programme:
    """The programmes of steps in boxes (B,), for the coefficients of ω (B, 1 + K + M)."""
    lam, values, client = rules.lam, rules.values, family.client
    k, m, local = lam.shape[1], rules.pooled.shape[1], rules.local
    active = lam != 0
    side = np.where(active, np.sign(lam), -np.sign(values))
    is_near = family.bound & (np.abs(values) >= local[:, client] - BUDGET_TIED) & (values != 0)
    free = (active | is_near) & (reach > 0)
    first, second = derivatives(family, rules, score)
    first *= free[:, None]
    basis = free[..., None] * _basis(first, reach, radius)
    walls = closed_gaps(family, rules, basis, score)
    rates, gaps = first @ basis, slice(-2 * m - GAPS, -2 * m)
    conditions = _conditions(rules, np.where(free, side, 0.0), side, client, walls)
    rows = conditions.of(basis, rates[:, :k], rates[:, k:], walls.change @ basis)
    limits = np.zeros(rows.shape[:2])
    limits[:, gaps] = -CLOSED * np.abs(walls.side)
    limits[:, -2 * m :] = np.where(np.isinf(target), 0.0, target)[:, None]
    slack = limits - conditions.of(lam, values, rules.pooled, walls.height)
    slack[:, : -2 * m] = np.maximum(slack[:, : -2 * m], 0.0)
    slope = -np.einsum("bk,bkz->bz", lam, rates[:, :k])
    size, turn = np.linalg.eigh(basis.swapaxes(1, 2) @ second @ basis)
    bent = (turn * np.maximum(size, 0.0)[:, None]) @ turn.swapaxes(1, 2)
    return Programme(slope, bent, rows, slack, basis, limits, conditions, walls)


def _conditions(rules: Rules, signs: Array, side: Array, client: Array, walls: Walls) -> Conditions:
    """Those of rules whose multipliers and values have signs ``side``, moving ones ``signs``."""
    active, k = rules.lam != 0, side.shape[1]
    size, index = np.where(active, 2.0, 0.0) + np.abs(rules.values), np.arange(k)
    largest_size = largest(size, client)[:, client]
    order = np.where(size == largest_size, index, k)
    lead = -largest((k - order) * 1.0, client).astype(int)[:, client] + k
    leads = lead == index
    value_signs, lead_signs = [np.where(leads, signs, 0.0)], [np.zeros(side.shape)]
    tied = ~leads & (largest(active * 1.0, client) > 0)[:, client]
    ahead = np.take_along_axis(side, lead, axis=1)
    for sign in (1.0, -1.0) if tied.any() else ():
        value_signs.append(np.where(tied, np.where(active, sign * side, sign), 0.0))
        lead_signs.append(np.where(tied, np.where(active, -sign * ahead, ahead), 0.0))
    stacked = np.stack(value_signs, axis=1), np.stack(lead_signs, axis=1)
    return Conditions(signs, lead, *stacked, walls.side)


def _basis(rates: Array, reach: Array, radius: Array) -> Array:
    """(B, K, K) the singular directions of the values' changes, as long as the box allows."""
    k = rates.shape[2]
    scaled = rates * reach
    _, turn = np.linalg.eigh(scaled[:, :k].swapaxes(1, 2) @ scaled[:, :k])
    far = np.abs(turn).max(axis=1)
    swing = np.abs(scaled @ turn).max(axis=1)
    return reach[:, None] * turn * (radius[:, None] / np.maximum(far, 2.0 * swing))[:, None]


def best_step(
    rules: Rules,
    target: Array,
    slope: Array,
    bent: Array,
    rows: Array,
    left: Array,
    low: Array | float,
    high: Array | float,
) -> tuple[Array, Array, Array]:
    """Steps z (B, n) between ``low`` and ``high``, the conditions' multipliers (B, m), and the
    merit that is promised. Accuracies change by slope·z - z·bent z/2; ``rows`` z <= ``left``, the
    last of them of the pooled differences and of minus these.
    """
    n, m, seeks = slope.shape[1], rules.pooled.shape[1], np.isinf(target)
    unit = np.maximum(np.abs(rows[:, -2 * m :]).max(axis=(1, 2)), 1e-300)
    # one more unknown: what disparities are beyond the target, in units of what they change by
    one_column, one_coefficient = ((0, 0), (0, 1)), ((0, 0), (0, 0), (0, 1))
    table = np.pad(rows, one_coefficient)
    gain = np.pad(np.where(seeks[:, None], 0.0, slope), one_column)
    table[:, -2 * m :, n] = -unit[:, None]
    dear = np.maximum(np.abs(gain).max(axis=1), np.abs(bent).max(axis=(1, 2)))
    gain[:, n] = np.where(seeks, -unit, -DEAR * dear)
    below, above = (np.broadcast_to(end, slope.shape) for end in (low, high))
    below, above = np.pad(below, one_column), np.pad(above, one_column, constant_values=np.inf)
    x, z = maximise(gain, table, left, below, above, np.pad(bent, ((0, 0), (0, 1), (0, 1))))
    step = x[:, :n].clip(low, high)
    after = np.abs(rules.pooled + (rows[:, -2 * m : -m] @ step[..., None])[..., 0])
    goal = np.where(seeks, 0.0, target)
    before = np.maximum(rules.disparity - goal, 0.0)
    then = np.maximum(after.max(axis=1, initial=0.0) - goal, 0.0)
    promise = (gain[:, :n] * step).sum(axis=1) - 0.5 * np.einsum("bz,bzy,by->b", step, bent, step)
    return step, z, promise + np.where(seeks, 1.0, RATE) * (before - then)


class Walk:
    """The ends of B rules' steps (B, K), which corrections move to the conditions that are active
    there: what steps leave nothing of, for its multiplier ``dual`` (B, m), is ``tight`` (B, m).

    ``change`` (B, m, K) is that of the conditions, of heights anew at each end; ``place`` (B, G)
    the critical points of s whose heights are watched; ``size`` (B, K) the largest changes of the
    multipliers in a box.
    """

    def __init__(
        self,
        family: RuleFamily,
        rules: Rules,
        programme: Programme,
        step: Array,
        dual: Array,
        target: Array,
    ) -> None:
        slack = programme.left - (programme.rows @ step[..., None])[..., 0]
        unit = np.abs(programme.rows).max(axis=2)
        self.tight = (dual * unit > slack / np.maximum(unit, 1e-300)) & (unit > 0)
        self.tight[:, -2 * rules.pooled.shape[1] :] &= ~np.isinf(target)[:, None]
        self.family, self.rules, self.programme = family, rules, programme
        self.step, self.change = step.copy(), programme.rows.copy()
        self.place, self.size = programme.walls.x.copy(), np.abs(programme.basis).max(axis=2)

    @property
    def gaps(self) -> slice:
        """The conditions on heights."""
        disparities = 2 * self.rules.pooled.shape[1]
        return slice(-disparities - GAPS, -disparities)

    def best(self, target: Array) -> Rules:
        """The best rules of the starts, the ends and the corrected ends, for targets (B,)."""
        best, merits, rows = self.rules, merit(self.rules, target), np.arange(len(self.step))
        for _ in range(1 + CORRECTIONS):
            lam, heights = self._with_heights(rows)
            programmes, candidates = self.programme.take(rows), self.family.at(lam)
            gain = merit(candidates, target[rows])
            better = np.flatnonzero(gain > merits[rows])
            best = best.replaced(rows[better], candidates.take(better))
            merits[rows[better]] = gain[better]
            sides = programmes.conditions.of(lam, candidates.values, candidates.pooled, heights)
            rows = self._correct(rows, sides - programmes.limits)
            if not rows.size:
                break
        return best

    def _with_heights(self, rows: Array) -> tuple[Array, Array]:
        """The ends of steps ``rows``, corrected to the heights' conditions, without a rule."""
        programme, gaps = self.programme, self.gaps
        lam, heights = self._end(rows)
        late = np.arange(rows.size)
        for _ in range(CORRECTIONS):
            missed = np.zeros(self.tight[rows[late]].shape)
            height = programme.walls.side[rows[late]] * heights[late]
            missed[:, gaps] = np.maximum(-height - programme.limits[rows[late], gaps], 0.0)
            late = late[np.isin(rows[late], self._correct(rows[late], missed))]
            if not late.size:
                break
            lam[late], heights[late] = self._end(rows[late])
        return lam, heights

    def _end(self, rows: Array) -> tuple[Array, Array]:
        """The multipliers and heights at the ends of the steps ``rows``."""
        programme, side = self.programme, self.programme.conditions.side[rows]
        basis, walls = programme.basis[rows], programme.walls._replace(x=self.place)
        lam = self.rules.lam[rows] + (basis @ self.step[rows][..., None])[..., 0]
        lam = np.where((side != 0) & (side * lam <= 1e-9 * self.size[rows]), 0.0, lam)
        walls = moved(self.family, lam, Walls._make(part[rows] for part in walls))
        self.place[rows] = walls.x
        self.change[rows, self.gaps] = -walls.side[..., None] * (walls.change @ basis)
        return lam, walls.height

    def _correct(self, rows: Array, missed: Array) -> Array:
        """Moves the ends of the steps ``rows`` by what their conditions miss; those moved."""
        signs = slice(-2 * self.rules.pooled.shape[1])
        self.tight[rows, signs] |= missed[:, signs] > MISSED
        missed = np.where(self.tight[rows], missed, 0.0)
        error = np.abs(missed).max(axis=1, initial=0.0)
        is_moved = (error > MISSED) & (error < FAR)
        rows, missed = rows[is_moved], missed[is_moved]
        tight = self.tight[rows]
        table = np.where(tight[..., None], self.change[rows], 0.0)
        width = tight.sum(axis=1).max(initial=0)
        first_tight = np.argsort(~tight, axis=1, kind="stable")[:, :width, None]
        table, missed = (np.take_along_axis(v, first_tight, 1) for v in (table, missed[..., None]))
        try:
            self.step[rows] -= (np.linalg.pinv(table, rcond=1e-10) @ missed)[..., 0]
        except np.linalg.LinAlgError:  # of numbers that are not finite, or do not converge
            return rows[:0]
        return rows
