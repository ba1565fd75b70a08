"""LFT+FedAvg on a finite X: ascent from optimal basis to optimal basis, over all budgets at once.

A rule f solves LFT+FedAvg(eps) for some eps iff some λ has f_c = ⟦s_c > 0⟧ wherever s = u + λV is
not zero, and λ_i MD_i(f) <= 0. A basis is k undecided cells and k clients with λ_i != 0, which
together fix λ. Its rules are a polytope: the undecided cells are free within [0, 1], and MD_i keeps
its sign. What it costs in MD and gains in accuracy is linear there, so that the best rule of a
basis is found by an active-set method. From there λ moves, at constant f, to the neighbouring
bases: a cell at 0 or 1 is released, or a client's constraint becomes active, until another cell is
undecided or a λ_i is zero. The reduced costs of the rule say whether a neighbouring basis is
better.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array

RISE = 1e-12
"""Slopes up to this share of the largest gain are zero."""
FLAT = 1e-10
"""A cell whose score moves by less than this share of its terms does not move."""
ROUNDING = 1e-12
"""How far a score, or λ_i MD_i, may be on its wrong side."""
LEAST_STEP = 1e-13
"""An objective that rises by less has not risen."""
ALIKE = 1e-12
"""Active constraints whose normals differ by less than this share are one."""
SIGNLESS = 1e-12
"""MD_i up to this may have either sign."""


class Goal(NamedTuple):
    """Maximise ``gain`` (N,) · f over rules with ``low`` <= MD <= ``high``."""

    gain: Array
    low: float
    high: float


@dataclass(frozen=True)
class Basis:
    """A rule ``f`` (N,) of the basis of cells ``tied`` (N,) and clients ``bound`` (K,), both masks
    of k.

    What holds f there: cells ``stuck`` (N,) at 0 or 1, clients ``zero`` (K,) at MD_i = 0, and MD at
    the limit ``level`` (1 the upper, -1 the lower, 0 none). ``reduced`` (N,) and ``duals`` (K,) are
    the reduced costs of the last goal.
    """

    tied: Array
    bound: Array
    f: Array
    stuck: Array
    zero: Array
    level: int = 0
    reduced: Array = field(default_factory=lambda: np.empty(0))
    duals: Array = field(default_factory=lambda: np.empty(0))

    @property
    def key(self) -> bytes:
        """What tells it from other bases."""
        return np.packbits(self.tied).tobytes() + np.packbits(self.bound).tobytes()


class Pivots:
    """The linear programme's gains ``u`` (N,), rows ``v`` (K, N) of the MD_i and ``pooled`` (N,) of
    the MD.

    No more cells may tie than a basis has: gains that are changed by a little, each by its own
    share, see to that.
    """

    def __init__(self, u: Array, v: Array, pooled: Array) -> None:
        self.u, self.v, self.pooled = u, v, pooled
        self.some = np.abs(v).max(axis=1, initial=0.0) > 0
        self.size = np.abs(v)

    def free(self) -> Basis:
        """The most accurate rule."""
        cells, clients = np.zeros(self.u.size, bool), np.zeros(len(self.v), bool)
        return Basis(cells, clients, np.where(self.u > 0, 1.0, 0.0), cells, clients)

    def basis(self, f: Array, lam: Array) -> Basis | None:
        """The basis of a solved linear programme, unless it is degenerate."""
        tied, bound = (f > 0) & (f < 1), lam != 0
        at = Basis(tied, bound, f, np.zeros_like(tied), np.zeros_like(bound))
        return at if tied.sum() == bound.sum() and self.optimal(at) else None

    def optimal(self, at: Basis) -> bool:
        """Whether its multipliers and its rule agree, up to rounding."""
        try:
            lam, _ = self.multipliers(at)
        except np.linalg.LinAlgError:
            return False
        score = self.u + lam @ self.v[at.bound]
        wrong = np.where(at.f == 1, -score, np.where(at.f == 0, score, 0.0))[~at.tied]
        signs = lam * (self.v[at.bound] @ at.f)
        return max(wrong.max(initial=0.0), signs.max(initial=0.0)) <= ROUNDING

    def md(self, at: Basis) -> float:
        """MD of its rule."""
        return float(self.pooled @ at.f)

    def climb(self, start: Basis, goal: Goal, look: int) -> Basis:
        """The best rule that pivots from ``start`` reach; up to ``look`` bases of one rule are
        looked at.
        """
        here = self._best(
            replace(start, stuck=start.tied & ((start.f == 0) | (start.f == 1)), level=0), goal
        )
        worth = float(goal.gain @ here.f)
        while True:
            better = self._beyond(here, goal, worth, look)
            if better is None:
                return here
            here, worth = better, float(goal.gain @ better.f)

    def _beyond(self, here: Basis, goal: Goal, worth: float, look: int) -> Basis | None:
        """A better rule of a basis that shares the rule of ``here``; None where ``look`` bases
        offer none.
        """
        queue, seen = [here], {here.key}
        for k in range(look):
            if k == len(queue):
                break
            for gain, there in self._next(queue[k]):
                if there.key in seen:
                    continue
                seen.add(there.key)
                if not self.optimal(there):
                    continue
                if gain > RISE * float(np.abs(goal.gain).max()):
                    there = self._best(there, goal)
                    if float(goal.gain @ there.f) > worth + LEAST_STEP:
                        return there
                queue.append(there)
        return None

    def multipliers(self, at: Basis) -> tuple[Array, Array]:
        """λ of its clients (k,), and the inverse (k, k) of rows by cells."""
        inverse = np.linalg.inv(self.v[np.ix_(at.bound, at.tied)])
        return -self.u[at.tied] @ inverse, inverse

    def _best(self, at: Basis, goal: Goal) -> Basis:
        """The best rule of a basis, by an active-set method: along the projected slope until
        something blocks.
        """
        try:
            lam, _ = self.multipliers(at)
        except np.linalg.LinAlgError:
            return at
        cells, clients = np.flatnonzero(at.tied), np.flatnonzero(at.bound)
        k, side = cells.size, -np.sign(lam)
        rows, pooled = self.v[np.ix_(clients, cells)], self.pooled[cells]
        flat = RISE * float(np.abs(goal.gain).max())
        x, local, md = at.f[cells], self.v[clients] @ at.f, self.md(at)
        # what is active: cells, MD_i, MD
        held = np.concatenate([at.stuck[cells], at.zero[clients], [at.level != 0]])
        level, duals, left = at.level, np.zeros(k + 1), goal.gain[cells]
        for _ in range(20 + 5 * k):
            moves, walls = ~held[:k], np.concatenate([rows, pooled[None]])
            duals = np.zeros(k + 1)
            if held[k:].any() and moves.any():
                active = walls[held[k:]][:, moves].T
                duals[held[k:]] = np.linalg.lstsq(active, goal.gain[cells][moves], rcond=ALIKE)[0]
            left = goal.gain[cells] - duals @ walls
            way = np.where(moves, left, 0.0)
            if np.abs(way).max(initial=0.0) <= flat:
                inward = np.where(x == 0, left, -left)
                wrong = np.where(
                    held, np.concatenate([inward, side * duals[:k], [-level * duals[k]]]), 0.0
                )
                worst = int(wrong.argmax())
                if wrong[worst] <= flat:
                    break
                held[worst] = False
                continue
            slope, drift = rows @ way, float(pooled @ way)
            falls = ~held[k : 2 * k] & (side * slope < 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(way > 0, (1.0 - x) / way, np.where(way < 0, -x / way, np.inf))
                signed = np.where(falls, np.maximum(side * local, 0.0) / -(side * slope), np.inf)
            limit = goal.high if drift > 0 else goal.low
            ahead = np.inf if held[2 * k] or drift == 0 else max((limit - md) / drift, 0.0)
            steps = np.concatenate([room, signed, [ahead]])
            hit = int(steps.argmin())
            x = np.clip(x + steps[hit] * way, 0.0, 1.0)
            local, md = local + steps[hit] * slope, md + steps[hit] * drift
            held[hit] = True
            if hit < k:
                x[hit] = 1.0 if way[hit] > 0 else 0.0
            elif hit == 2 * k:
                level = 1 if drift > 0 else -1
        f, stuck, zero = at.f.copy(), np.zeros_like(at.tied), np.zeros_like(at.bound)
        costs = np.zeros(len(self.v))
        f[cells], stuck[cells], zero[clients], costs[clients] = (
            x,
            held[:k],
            held[k : 2 * k],
            duals[:k],
        )
        reduced = goal.gain - costs @ self.v - duals[k] * self.pooled
        return Basis(at.tied, at.bound, f, stuck, zero, level if held[2 * k] else 0, reduced, costs)

    def _next(self, at: Basis) -> list[tuple[float, Basis]]:
        """The bases next to this one with the same rule, and the slopes that they offer, the
        steepest first.
        """
        try:
            lam, inverse = self.multipliers(at)
        except np.linalg.LinAlgError:
            return []
        cells, clients = np.flatnonzero(at.tied), np.flatnonzero(at.bound)
        f, rows = at.f, self.v[clients]
        pull = inverse @ rows
        score = self.u + lam @ rows
        free = np.flatnonzero((f[cells] == 0) | (f[cells] == 1))
        up = np.where(f[cells[free]] == 1, 1.0, -1.0)[:, None]
        local = self.v @ f
        slack = np.flatnonzero(self.some & ~at.bound)
        ways, turns = [up * pull[free]], [up * inverse[free]]
        enters = [np.full(free.size, -1)]
        for sign in (1.0, -1.0):
            new = slack[sign * local[slack] <= SIGNLESS]
            cross = self.v[np.ix_(new, cells)]
            ways.append(sign * (self.v[new] - cross @ pull))
            turns.append(-sign * (cross @ inverse))
            enters.append(new)
        way, turn, enter = np.concatenate(ways), np.concatenate(turns), np.concatenate(enters)
        leave = np.append(cells[free], np.full(len(way) - free.size, -1))
        terms = np.abs(turn) @ self.size[clients]
        terms[free.size :] += self.size[enter[free.size :]]
        accepted = f == 1
        toward = np.where(accepted, -way, way)
        meets = ~at.tied & (toward > FLAT * terms)
        gap = np.maximum(np.where(accepted, score, -score), 0.0)
        far = np.where(meets, gap / np.where(meets, toward, 1.0), np.inf)
        falls = lam * turn < 0
        done = np.where(falls, -lam / np.where(falls, turn, 1.0), np.inf)
        far = np.concatenate([far, done], axis=1)
        event = far.argmin(axis=1)
        found = []
        for e in np.flatnonzero(np.isfinite(far[np.arange(len(far)), event])):
            tied, bound, stuck = at.tied.copy(), at.bound.copy(), at.stuck.copy()
            zero = at.zero.copy()
            if leave[e] >= 0:
                tied[leave[e]] = stuck[leave[e]] = False
            if enter[e] >= 0:
                bound[enter[e]] = True
            if event[e] < f.size:
                c = event[e]
                tied[c] = stuck[c] = True
                gain = float(at.reduced[c] if f[c] == 0 else -at.reduced[c])
            else:
                i = clients[event[e] - f.size]
                bound[i] = zero[i] = False
                gain = abs(float(at.duals[i]))
            found.append((gain, Basis(tied, bound, f, stuck, zero, at.level, at.reduced, at.duals)))
        return sorted(found, key=lambda pair: -pair[0])
