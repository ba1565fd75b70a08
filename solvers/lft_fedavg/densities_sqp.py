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

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import MET, SLACK_BUDGET
from fairfl.solvers.numerics.critical_points import critical_points
from fairfl.solvers.numerics.dual import weights
from fairfl.solvers.numerics.interior_point import maximise
from fairfl.solvers.numerics.rule_family import TIGHT, RuleFamily, Rules, largest

RATE = 30.0
"""Accuracy that a unit of disparity beyond the target, or of a missed budget, costs."""
DEAR = 100.0
"""The same in the programme, with disparity and accuracy in units of their changes in the box."""
FIRST, LARGEST, SMALLEST = 0.15, 0.5, 1e-6
"""Radii of the box: the first, the largest, and the one at which a rule stops."""
TIED = 1e-9
"""Values this close to their client's largest may bind."""
FLATTEST = 1e10
"""Rates change with a multiplier by no more than this: where a tie has a mass, s is flat."""
GAIN = 1e-11
"""Steps that promise less are not taken."""
CORRECTIONS = 3
"""Second-order corrections of each step."""
GAPS = 5
"""Gaps that are kept closed, for each rule: those that a step opens first."""
CLOSED = 1e-11
"""The height at which they are kept: at zero a rounding opens them."""


class Walls(NamedTuple):
    """Critical points of s that keep their side of zero, GAPS for each rule (B, W): the places and
    points, 1 for minima and -1 for maxima and 0 where there is none, the heights, and their
    derivatives (B, W, K) in λ.
    """

    place: Array
    x: Array
    side: Array
    height: Array
    change: Array

    def take(self, rows: Array) -> Walls:
        """The walls of the rules ``rows``."""
        return Walls(*(part[rows] for part in self))


class Programme(NamedTuple):
    """The quadratic programmes of B rules: rows (B, m, Q) of q and their limits (B, m), the
    targets' last; the derivatives (B, Q, K) of q in λ; whether (B, K) each multiplier is free; the
    directions (B, K, K) of steps; and the gaps that are kept closed.
    """

    rows: Array
    limits: Array
    change: Array
    free: Array
    basis: Array
    walls: Walls

    def take(self, rows: Array) -> Programme:
        """The programmes of the rules ``rows``."""
        return Programme(
            self.rows[rows],
            self.limits[rows],
            self.change[rows],
            self.free[rows],
            self.basis[rows],
            self.walls.take(rows),
        )


def climb(
    family: RuleFamily,
    start: Rules,
    target: Array,
    reach: Array,
    rounds: int,
    *,
    by_budgets: bool = False,
) -> Rules:
    """The rules that sequential quadratic programming finds from ``start``.

    Parameters
    ----------
    start : B rules, each optimal for its budgets (``excess`` 0 up to rounding).
    target : (B,), -inf to look for the smallest disparity.
    reach : (K,) unit of each multiplier's steps; 0 keeps it where it is.
    by_budgets : try steps that fail at their budgets too, at some ten times the cost: narrow gaps
        bend the way in λ.
    """
    best, score, k = start, plain_score(start), len(reach)
    radius, alive = np.full(target.size, FIRST), np.arange(target.size)
    # whether budgets of zero are kept while their multipliers change sign: where nothing else helps
    held = np.zeros(target.size, bool)
    for turn in range(rounds):
        here, goal = best.take(alive), target[alive]
        own = score[alive] if turn else None
        programme = _programme(family, here, goal, reach, radius[alive], own, held[alive])
        step, dual, promise = _step(family, here, programme, score[alive], goal)
        found = _walked(family, here, programme, step, dual, goal)
        gain = merit(found, goal) - merit(here, goal)
        poor = np.flatnonzero((gain <= 0.1 * promise) & (promise > GAIN))
        if by_budgets and poor.size:
            own = programme.take(poor)
            other = _walked(
                family, here.take(poor), own, step[poor], dual[poor], goal[poor], by_budgets=True
            )
            more = merit(other, goal[poor]) - merit(here.take(poor), goal[poor])
            better = more > gain[poor]
            found = found.replaced(poor[better], other.take(np.flatnonzero(better)))
            gain[poor] = np.maximum(gain[poor], more)
        best = best.replaced(alive[gain > 0], found.take(np.flatnonzero(gain > 0)))
        pull = -np.einsum("bm,bmq->bq", dual, programme.rows)[:, k:-GAPS]
        score[alive] = np.column_stack([np.where(np.isinf(goal), 0.0, 1.0), pull])
        good, most = gain > 0.1 * promise, np.where(gain > 0.5 * promise, 3.0, 1.0)
        radius[alive] = np.minimum(np.where(good, most, 0.25) * radius[alive], LARGEST)
        done = (promise <= GAIN) | (radius[alive] < SMALLEST)
        again = done & ~held[alive] & (here.local <= TIGHT).any(axis=1)
        radius[alive[again]] = FIRST
        held[alive] = again | (held[alive] & ~good)
        alive = alive[again | ~done]
        if not alive.size:
            break
    return best


def plain_score(rules: Rules) -> Array:
    """(B, 1 + K + M) the coefficients of s in u, v and w: the ω of a rule at its own budgets."""
    return np.concatenate([np.ones((len(rules.lam), 1)), rules.lam, 0.0 * rules.pooled], axis=1)


def restored(family: RuleFamily, rule: Rules, target: float) -> Rules:
    """A rule (1,) just above the target brought to it, by Newton's method in its budgets."""
    for _ in range(CORRECTIONS):
        m = int(np.abs(rule.pooled[0]).argmax())
        over, k = rule.disparity[0] - target, len(family.client)
        active = np.flatnonzero(rule.lam[0])
        if over <= MET / 10 or not active.size:
            break
        change = _sums(family, rule)[0][:, active]
        slope = np.linalg.lstsq(change[active].T, change[k + m], rcond=1e-12)[0]
        values = rule.values[0].copy()
        values[active] -= np.sign(rule.pooled[0, m]) * over * slope / max(slope @ slope, 1e-300)
        eps = np.where(
            rule.budgets < SLACK_BUDGET, largest(np.abs(values)[None], family.client), 1.0
        )
        rule = family.follow(rule, eps)[0]
    return rule


def merit(rules: Rules, target: Array) -> Array:
    """The accuracy minus RATE times the violations; for a target of -inf, minus the disparity
    instead of the accuracy.
    """
    broken = RATE * rules.excess.sum(axis=1)
    seeks = np.isinf(target)
    beyond = np.maximum(rules.disparity - np.where(seeks, 0.0, target), 0.0)
    return np.where(seeks, -rules.disparity, rules.accuracy - RATE * beyond) - broken


def _cuts(family: RuleFamily, here: Rules, order: int) -> Iterator[tuple[Array, ...]]:
    """At each place the cuts' owners, and the derivative of this ``order`` of s, u, v and w."""
    for p, sets in enumerate(here.point.sets):
        yield sets.owner, *_terms(family, here.lam, p, sets.owner, sets.cut, order)


def _terms(
    family: RuleFamily, lam: Array, p: int, owner: Array, x: Array, order: int
) -> tuple[Array, Array, Array, Array]:
    profile, rows = family.problem.profiles[p], family.problem.coefficients[p]
    f = profile.values(x) if order == 0 else profile.slopes(x, order)
    s = np.einsum("rj,jr->r", weights(lam, rows)[owner], f)
    return s, f[0], rows @ f[1:], family.pooled[p] @ f[1:]


def _scored(score: Array, owner: Array, u: Array, v: Array, w: Array) -> Array:
    """(R,) ω, or its derivative, from those of u, v and w."""
    return np.einsum("rj,jr->r", score[owner], np.concatenate([u[None], v, w]))


def _add(out: Array, owner: Array, left: Array, right: Array) -> None:
    """Adds to out[b] the products left rightᵀ of its cuts."""
    ends = np.searchsorted(owner, np.arange(len(out) + 1))
    for b in range(len(out)):
        part = slice(ends[b], ends[b + 1])
        out[b] += left[:, part] @ right[:, part].T


def _steep(slope: Array, v: Array) -> Array:
    """(R,) the slopes of s at its cuts, those of ties with a mass as steep as numbers allow."""
    least = np.maximum((v * v).max(axis=0, initial=0.0) / FLATTEST, 1e-100)
    return np.where(slope < 0, -1.0, 1.0) * np.maximum(np.abs(slope), least)


def _sums(family: RuleFamily, here: Rules) -> Array:
    """(B, K + M, K) the derivatives of values and pooled differences in λ."""
    out = np.zeros((len(here.lam), here.values.shape[1] + here.pooled.shape[1], here.lam.shape[1]))
    for (owner, _, _, v, w), (_, slope, *_) in zip(
        _cuts(family, here, 0), _cuts(family, here, 1), strict=True
    ):
        _add(out, owner, np.concatenate([v, w]), v / np.abs(_steep(slope, v)))
    return out


def _programme(
    family: RuleFamily,
    here: Rules,
    target: Array,
    reach: Array,
    radius: Array,
    score: Array | None,
    held: Array | None = None,
) -> Programme:
    """The programmes of steps with the box's ``radius`` (B,); ``score`` (B, 1 + K + M) the
    coefficients of ω, None where no multipliers are known; ``held`` (B,) see ``climb``.
    """
    lam, values, client = here.lam, here.values, family.client
    (count, k), m = lam.shape, here.pooled.shape[1]
    each, local = np.arange(count), here.local
    active = lam != 0
    side = np.where(active, np.sign(lam), -np.sign(values))
    near = family.bound & (np.abs(values) >= local[:, client] - TIED) & (values != 0)
    free = (active | near) & (reach > 0)
    binds = largest(active * 1.0, client) > 0
    # the constraint whose value is its client's budget: one that binds, else the largest
    size = np.where(active, 2.0, 0.0) + np.abs(values)
    lead = np.zeros(local.shape, int)
    for i in np.unique(client):
        own = np.flatnonzero(client == i)
        lead[:, i] = own[size[:, own].argmax(axis=1)]
    zero = (local <= TIGHT) & (False if held is None else held[:, None])
    width, hard = 2 * k + m + GAPS, 3 * k + GAPS
    rows, limits = np.zeros((count, hard + 2 * m, width)), np.zeros((count, hard + 2 * m))
    for j in range(k):
        i = client[j]
        first, leads, kept = lead[:, i], lead[:, i] == j, zero[:, i]
        ahead = np.take_along_axis(side, first[:, None], 1)[:, 0]
        rows[each, j, j] = np.where(free[:, j] & ~kept, -side[:, j], 0.0)
        own = np.where(leads & free[:, j], side[:, j], 0.0)
        rows[each, k + 2 * j, k + j] = own
        rows[each, k + 2 * j + 1, k + j] = np.where(kept, -own, 0.0)
        tied = ~leads & binds[:, i]
        for slot, sign in enumerate((1.0, -1.0)):
            r = k + 2 * j + slot
            with_lead = np.where(active[:, j], -sign * ahead, ahead)
            rows[each, r, k + j] += np.where(
                tied, np.where(active[:, j], sign * side[:, j], sign), 0.0
            )
            rows[each, r, k + first] += np.where(tied, with_lead, 0.0)
    for j in range(m):
        for slot, sign in enumerate((1.0, -1.0)):
            rows[:, hard + 2 * j + slot, 2 * k + j] = sign
    limits[:, hard:] = np.where(np.isinf(target), 0.0, target)[:, None]
    change = np.zeros((count, width, k))
    change[:, :k] = np.eye(k)
    change[:, k : 2 * k + m] = _sums(family, here)
    change *= free[:, None]
    basis = _basis(change[:, k : 2 * k + m], reach, radius)
    walls = _walls(family, here, basis, score)
    change[:, 2 * k + m :] = walls.change * free[:, None]
    for g in range(GAPS):
        rows[:, 3 * k + g, 2 * k + m + g] = -walls.side[:, g]
        limits[:, 3 * k + g] = -CLOSED * np.abs(walls.side[:, g])
    return Programme(rows, limits, change, free, basis, walls)


def _basis(rates: Array, reach: Array, radius: Array) -> Array:
    """(B, K, K) directions of λ, the singular ones of the values' changes, each as long as the box
    lets it be.
    """
    k = rates.shape[2]
    scaled = rates * reach
    _, turn = np.linalg.eigh(scaled[:, :k].swapaxes(1, 2) @ scaled[:, :k])
    far = np.abs(turn).max(axis=1)
    swing = np.abs(scaled @ turn).max(axis=1)
    return reach[:, None] * turn * (radius[:, None] / np.maximum(far, 2.0 * swing))[:, None]


def _walls(family: RuleFamily, here: Rules, basis: Array, score: Array | None) -> Walls:
    """The gaps that steps in the box may open, but for those that the Lagrangian wants open."""
    count, k = here.lam.shape
    mixed = [weights(here.lam, rows) for rows in family.problem.coefficients]
    parts: list[tuple[Array, ...]] = []
    for p, points in enumerate(critical_points(family.problem.profiles, mixed)):
        side = np.where(points.peak, -1.0, 1.0)
        _, u, v, w = _terms(family, here.lam, p, points.owner, points.x, 0)
        most = np.abs(np.einsum("kr,rkz->rz", v, basis[points.owner])).sum(axis=1)
        keep = points.closed & (np.abs(points.height) < 1.5 * most)
        if score is not None:
            keep &= side * _scored(score, points.owner, u, v, w) > 0
        parts.append(
            tuple(
                part[keep]
                for part in (
                    np.abs(points.height) / np.maximum(most, 1e-300),
                    points.owner,
                    np.full(keep.size, p),
                    points.x,
                    side,
                    points.height,
                    v.T,
                )
            )
        )
    near, owner, *known = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((near, owner))
    rank = np.arange(order.size) - np.searchsorted(owner[order], owner[order])
    order, rank = order[rank < GAPS], rank[rank < GAPS]
    at = owner[order], rank
    out = Walls(
        np.zeros((count, GAPS), int),
        np.zeros((count, GAPS)),
        np.zeros((count, GAPS)),
        np.zeros((count, GAPS)),
        np.zeros((count, GAPS, k)),
    )
    for table, values in zip(out, known, strict=True):
        table[at] = values[order]
    return out


def _heights(family: RuleFamily, lam: Array, walls: Walls) -> tuple[Array, Array]:
    """(B, W) the heights at multipliers (B, K) close by, and their derivatives (B, W, K): Newton's
    method in x.
    """
    out, change = np.zeros(walls.x.shape), np.zeros(walls.change.shape)
    for p in range(len(family.problem.profiles)):
        b, g = np.nonzero((walls.side != 0) & (walls.place == p))
        x = walls.x[b, g]
        for _ in range(2):
            slope = _terms(family, lam, p, b, x, 1)[0]
            bend = walls.side[b, g] * _terms(family, lam, p, b, x, 2)[0]
            x = x - np.where(
                bend > 0, walls.side[b, g] * slope / np.where(bend > 0, bend, 1.0), 0.0
            )
        out[b, g], _, v, _ = _terms(family, lam, p, b, x, 0)
        change[b, g] = v.T
    return out, change


def _state(rules: Rules, heights: Array) -> Array:
    """(B, Q) q."""
    return np.concatenate([rules.lam, rules.values, rules.pooled, heights], axis=1)


def _curvature(family: RuleFamily, here: Rules, score: Array) -> Array:
    """(B, K, K) minus the second derivatives of the Lagrangian."""
    k = here.lam.shape[1]
    out = np.zeros((len(here.lam), k, k))
    orders = (_cuts(family, here, order) for order in range(3))
    for (owner, _, *zeroth), (_, slope, *first), (_, bend, *_) in zip(*orders, strict=True):
        omega, rise = (_scored(score, owner, *each) for each in (zeroth, first))
        v, dv = zeroth[1], first[1]
        steep = _steep(slope, v)
        sign = np.sign(steep)
        _add(out, owner, v, v * sign * (rise / steep - omega * bend / steep**2) / steep)
        both = sign * omega / steep**2
        _add(out, owner, dv * both, v)
        _add(out, owner, v, dv * both)
    return out


def _step(
    family: RuleFamily, here: Rules, programme: Programme, score: Array, target: Array
) -> tuple[Array, Array, Array]:
    """The steps (B, K) in the basis, the rows' multipliers (B, m), and the gains in merit that they
    promise.
    """
    (count, k), m = here.lam.shape, here.pooled.shape[1]
    basis, walls = programme.basis, programme.walls
    change = programme.change @ basis
    rows = programme.rows @ change
    now = _state(here, walls.height)
    left = programme.limits - np.einsum("bmq,bq->bm", programme.rows, now)
    left[:, : -2 * m] = np.maximum(left[:, : -2 * m], 0.0)
    seeks = np.isinf(target)
    size, turn = np.linalg.eigh(basis.swapaxes(1, 2) @ _curvature(family, here, score) @ basis)
    bent = (turn * np.maximum(size, 0.0)[:, None]) @ turn.swapaxes(1, 2)
    table = np.zeros((count, left.shape[1] + 2 * k + 1, k + 1))
    table[:, : left.shape[1], :k] = rows
    unit = np.maximum(np.abs(rows[:, -2 * m :]).max(axis=(1, 2)), 1e-300)
    table[:, left.shape[1] - 2 * m : left.shape[1], k] = -unit[:, None]
    table[:, left.shape[1] : -1, :k] = np.concatenate([np.eye(k), -np.eye(k)])
    table[:, -1, k] = -1.0
    limits = np.column_stack([left, np.ones((count, 2 * k)), np.zeros(count)])
    gain = np.zeros((count, k + 1))
    slope = -np.einsum("bk,bkz->bz", here.lam, change[:, k : 2 * k])
    gain[:, :k] = np.where(seeks[:, None], 0.0, slope)
    dear = np.maximum(np.abs(gain).max(axis=1), np.abs(bent).max(axis=(1, 2)))
    gain[:, k] = np.where(seeks, -unit, -DEAR * dear)
    q = np.zeros((count, k + 1, k + 1))
    q[:, :k, :k] = bent
    x, z = maximise(gain, table, limits, q)
    step = np.clip(x[:, :k], -1.0, 1.0)
    after = np.abs(here.pooled + np.einsum("bmz,bz->bm", change[:, 2 * k : 2 * k + m], step))
    goal = np.where(seeks, 0.0, target)
    before = np.maximum(here.disparity - goal, 0.0)
    then = np.maximum(after.max(axis=1, initial=0.0) - goal, 0.0)
    promise = (gain[:, :k] * step).sum(axis=1) - 0.5 * np.einsum("bz,bzy,by->b", step, bent, step)
    return step, z[:, : left.shape[1]], promise + np.where(seeks, 1.0, RATE) * (before - then)


def _followed(family: RuleFamily, tried: Rules, here: Rules, near: Rules, change: Array) -> Rules:
    """The rules at the budgets that the programmes predict, by Newton's method in cuts and
    multipliers; ``change`` (B, K) of the values.
    """
    rows = np.arange(len(change))
    wanted = np.maximum(-np.sign(tried.lam) * (here.values + change), 0.0)
    bound = largest((tried.lam != 0) * 1.0, family.client) > 0
    eps = np.where(bound, largest(wanted, family.client), SLACK_BUDGET)
    eps = np.where(eps <= TIGHT, 0.0, eps)
    for start in (near, tried):  # the end has the gaps that open on the way
        other, met = family.follow(start.take(rows), eps)
        tried = tried.replaced(rows[met], other.take(np.flatnonzero(met)))
        rows, eps = rows[~met], eps[~met]
    return tried


def _walked(
    family: RuleFamily,
    here: Rules,
    programme: Programme,
    step: Array,
    dual: Array,
    target: Array,
    *,
    by_budgets: bool = False,
) -> Rules:
    """The best of the ends of steps and of their corrections to the active conditions."""
    k, m = here.lam.shape[1], here.pooled.shape[1]
    basis, walls = programme.basis, programme.walls
    side = np.where(here.lam != 0, np.sign(here.lam), -np.sign(here.values))
    kept = programme.rows[:, np.arange(k), np.arange(k)] != 0
    size = np.abs(basis).max(axis=2)
    change = programme.rows @ (programme.change @ basis)
    slack = programme.limits - np.einsum("bmq,bq->bm", programme.rows, _state(here, walls.height))
    slack -= np.einsum("bmz,bz->bm", change, step)
    unit = np.abs(change).max(axis=2)
    tight = (dual * unit > slack / np.maximum(unit, 1e-300)) & (unit > 0)
    tight[:, -2 * m :] &= ~np.isinf(target)[:, None]
    best, rows, step = here, np.arange(len(step)), step.copy()
    for _ in range(2 if by_budgets else 1 + CORRECTIONS):
        lam = here.lam[rows] + np.einsum("bkz,bz->bk", basis[rows], step[rows])
        wrong = kept[rows] & (side[rows] * lam <= 1e-9 * size[rows])
        lam = np.where(wrong | ~programme.free[rows], 0.0, lam)
        moved = np.einsum("bqz,bz->bq", (programme.change @ basis)[rows], step[rows])
        tried = family.at(lam)
        if by_budgets:
            tried = _followed(family, tried, here.take(rows), best.take(rows), moved[:, k : 2 * k])
        better = np.flatnonzero(merit(tried, target[rows]) > merit(best.take(rows), target[rows]))
        best = best.replaced(rows[better], tried.take(better))
        heights, slope = _heights(family, tried.lam, walls.take(rows))
        slope = (slope * programme.free[rows, None]) @ basis[rows]
        change[rows, 3 * k : 3 * k + GAPS] = -walls.side[rows, :, None] * slope
        missed = np.einsum("bmq,bq->bm", programme.rows[rows], _state(tried, heights))
        missed -= programme.limits[rows]
        tight[rows, : -2 * m] |= missed[:, : -2 * m] > 1e-13
        missed = np.where(tight[rows], missed, 0.0)
        off = np.abs(missed).max(axis=1, initial=0.0)
        go = (off > 1e-13) & (off < 0.1)
        rows, missed = rows[go], missed[go]
        if not rows.size:
            break
        inverse = np.linalg.pinv(np.where(tight[rows, :, None], change[rows], 0.0), rcond=1e-10)
        step[rows] -= np.einsum("bzm,bm->bz", inverse, missed)
    return best
