"""The search for LFT+FedAvg's best rules on densities, by ascent in the multipliers (FedFB,
lemma 18).

Each λ gives a solution for its own budgets (``rule_family``). For each target disparity a local
search (``densities_ascent``) runs from many starts; the result is solved again for its budgets and
certified as in ``solve``. That no better budgets exist is searched for, not proven.
"""

from __future__ import annotations

import functools
import itertools
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import MET, SLACK_BUDGET, Points
from fairfl.solvers.lft_fedavg.densities_ascent import TIED, ascend, merit
from fairfl.solvers.numerics.certify import solve_by_dual
from fairfl.solvers.numerics.descent import ENOUGH
from fairfl.solvers.numerics.rule_family import RuleFamily, Rules
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import LAW_TOLERANCE, CertificationError, Solution
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

BUDGETS = 400
"""Random budgets to start from: in the first few clients are bound, in the last all, by turns to
0.
"""
SOLVED, PASSES = 20, 2
"""One in so many of them is solved; the others are followed from the nearest known, in so many
parts.
"""
MARGIN = 0.01
"""Tight budgets are drawn up to the disparities of the most useful rule, and this more."""
WIDTH = 8
"""Starts for every target, of different kinds; for few clients two each."""
FEW = 8
"""Clients up to which each counts where starts are chosen."""
LOWEST = 8
"""Starts for each client, of FEW at most, where the smallest disparity is looked for."""
SCREENED = 3
"""Rounds after which the best FINALISTS climb on, or one in FEWER of the starts; of those whose
budgets were changed the best MORE.
"""
FINALISTS, MORE = 2, 6
FEWER = 4
ROUNDS = 20
COARSE = 24
"""Disparities solved for from the starts; the wanted ones are solved for from their neighbours."""
SWEEPS, BESIDE = 20, 2
"""Times, at most, that what was found at one disparity is tried at those beside it, and how many
these are on each side.
"""
GAINED = 1e-7
"""Accuracy that makes another sweep worth while."""
HOPE = 1.5
"""Accuracy that a unit of disparity beyond a target, or a missed budget, costs where it is asked
who climbs on.
"""
SHORT, DIGITS = 5e-3, 7
"""Accuracy by which one who climbs on may be worse than what is known, where a client's budget was
changed; and digits in which those that climb on differ.
"""
CHANGED, AT_ONCE, EVERY = 30_000, 120, 3
"""Budgets that are changed, at most, times the clients squared; how many at once; and first at
every third disparity.
"""
ROUNDED = 1e-9
"""|MD_k| up to which a multiplier may have the wrong sign in a start: corners are tight up to
rounding.
"""
FAIR = LAW_TOLERANCE
"""Disparities up to this are reported as zero."""
NEARLY = 1e-2
"""From smallest disparities up to this, zero itself is tried."""


@dataclass(frozen=True)
class MultiplierSearch:
    """A federation's rules f_λ, the reach (K,) of their multipliers, starts all over them, the free
    rule first, and budgets that were ``tried``.

    Which of several maxima a climb finds may depend on rounding. So the search has the clients in
    an ``order`` (I,) of its own, and their order in the federation does not matter.
    """

    fed: Federation
    task: Task
    order: Array
    family: RuleFamily
    reach: Array
    starts: Rules
    tried: set[bytes] = field(default_factory=set)

    @classmethod
    def of(cls, fed: Federation, task: Task) -> MultiplierSearch:
        """Starts: no constraint; all, one, or (for few clients) all but one exactly tight; and
        random budgets.

        The groups' names do not matter to the draws.
        """
        assert isinstance(fed.model, ContinuousModel)
        own = np.array([np.ravel([law.middle for law in laws]) for laws in fed.model.laws])
        turn = np.lexsort(np.column_stack([own, fed.share, fed.weight]).T)
        family = RuleFamily.of(fed.part(turn.tolist()), task)
        count, clients = family.problem.count, fed.n_clients
        free = family.at(np.zeros((1, count)))
        order = np.argsort(free.local[0], kind="stable")
        rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
        tight = rng.random((BUDGETS, clients)) < np.linspace(0.0, 1.0, BUDGETS)[:, None]
        scale = np.where(np.arange(BUDGETS)[:, None] % 2, rng.random(tight.shape), 0.0)
        drawn = np.empty(tight.shape)
        drawn[:, order] = np.where(tight, scale * (free.local[0, order] + MARGIN), SLACK_BUDGET)
        alone = np.eye(clients)
        all_but_one = alone[: clients if clients <= FEW else 0]  # a second each
        budgets = np.concatenate([0.0 * alone[:1], all_but_one, 1.0 - alone, drawn[::SOLVED]])
        solved = [family.solve(eps, enough=ENOUGH) for eps in budgets]
        starts = functools.reduce(Rules.join, [free, *solved])
        starts = starts.take(np.flatnonzero(starts.excess.max(axis=1, initial=0.0) <= ROUNDED))
        most = free.local[0]
        for part in np.array_split(np.delete(drawn, np.s_[::SOLVED], axis=0), PASSES):
            far = np.minimum(part, most)[:, None] - np.minimum(starts.budgets, most)
            near = starts.take(np.abs(far).max(axis=2).argmin(axis=1))
            found, met = family.follow(near, part)
            met &= found.excess.max(axis=1, initial=0.0) <= ROUNDED
            starts = starts.join(found.take(np.flatnonzero(met)))
        reach = np.abs(starts.lam).max(axis=0)
        reach = np.where(family.bound, np.maximum(reach, 0.01 * reach.max()), 0.0)
        return cls(fed, task, turn, family, reach, starts)

    @property
    def free(self) -> Rules:
        """The most accurate rule."""
        return self.starts.take(np.array([0]))

    def lowest(self) -> Rules:
        """The rule with the smallest |MD| that was found; at zero, it is the most accurate of those
        with MD 0.
        """
        if not self.reach.any():
            return self.free
        target, count = np.array([-np.inf]), LOWEST * min(self.reach.size, FEW)
        starts = self.starts.take(self._various(self.starts, -np.inf, count))
        found = self._best(starts, target, 2 * SCREENED, 1 + count // FEWER)
        low = self._best(found, target, ROUNDS, 1)
        if low.disparity[0] > FAIR:
            low = below(self.settled(target, low), target)
        if low.disparity[0] > NEARLY:
            return low
        fair = self.at(np.zeros(1), low.join(self.starts), count)
        return fair if fair.disparity[0] <= FAIR else low

    def at(self, targets: Array, known: Rules, count: int | None = None) -> Rules:
        """The most accurate rules with |MD| <= targets (P,) that climbs from ``count`` of the
        ``known`` ones for each reach.
        """
        count = min(WIDTH, 2 * self.reach.size) if count is None else count
        rows = np.stack([self._various(known, target, count) for target in targets])
        found = self._best(known.take(rows.ravel()), targets, SCREENED, FINALISTS)
        return self._best(found, targets, ROUNDS, 1)

    def _various(self, known: Rules, target: float, count: int) -> Array:
        """``count`` starts among the ``known`` rules, the best of each kind first: who is bound,
        and how many cuts.
        """
        order = np.argsort(-merit(known, np.full(known.md.size, target)), kind="stable")
        kinds = np.concatenate([np.sign(known.lam), known.cuts], axis=1)[order]
        first = np.sort(np.unique(kinds, axis=0, return_index=True)[1])
        others = np.setdiff1d(np.arange(order.size), first)
        return np.resize(order[np.append(first, others)], count)

    def _best(self, starts: Rules, targets: Array, rounds: int, kept: int) -> Rules:
        """The best ``kept`` for each target of climbs from ``starts``, equally many for each,
        together.
        """
        goal = np.repeat(targets, starts.md.size // targets.size)
        found = ascend(self.family, starts, goal, self.reach, rounds)
        order = np.argsort(-merit(found, goal).reshape(targets.size, -1), axis=1, kind="stable")[
            :, :kept
        ]
        return found.take(
            (order + np.arange(targets.size)[:, None] * (goal.size // targets.size)).ravel()
        )

    def refined(self, targets: Array, known: Rules) -> Rules:
        """As ``at``, from the neighbours on both sides among ``known``, which increase in |MD|."""
        right = np.searchsorted(known.disparity, targets)
        rows = np.clip(right[:, None] + np.arange(-1, 1), 0, known.md.size - 1)
        return self._best(known.take(rows.ravel()), targets, ROUNDS, 1)

    def settled(self, targets: Array, known: Rules) -> Rules:
        """``known`` and what climbs to the targets (P,) find: from the best at those beside until
        nothing is gained by that, then from those ``_beside`` the best, and so on.
        """
        apart = np.abs(np.subtract.outer(np.arange(targets.size), np.arange(targets.size)))
        moved = np.ones(targets.size, bool)
        for _ in range(SWEEPS):
            best = below(known, targets)
            source, to = np.nonzero((apart > 0) & (apart <= BESIDE) & moved[:, None])
            starts, short = best.take(source), 0.0
            if not to.size:
                starts, to = self._beside(best, targets)
                short = SHORT
            if not to.size:
                break
            found = self._climbed(starts, targets[to], to, merit(best, targets)[to], short)
            known = ordered(known.join(found))
            moved = merit(below(known, targets), targets) > merit(best, targets) + GAINED
        return known

    def _climbed(self, starts: Rules, goal: Array, to: Array, known: Array, short: float) -> Rules:
        """What the starts find on their way to their goals (B,); of those to one place ``to`` (B,)
        that differ from what is ``known`` there, and are less than ``short`` of it, the best MORE
        climb on.
        """
        found = ascend(self.family, starts, goal, self.reach, SCREENED)
        hope = merit(found, goal, HOPE)
        order = np.lexsort((-hope, to))
        order = order[((hope > known - short) & (abs(hope - known) > GAINED))[order]]
        same = np.column_stack([to, np.round(hope, DIGITS)])[order]
        order = order[np.sort(np.unique(same, axis=0, return_index=True)[1])]
        rank = np.arange(order.size) - np.searchsorted(to[order], to[order])
        on = order[rank < MORE]
        if on.size:
            more = ascend(self.family, found.take(on), goal[on], self.reach, ROUNDS)
            found = found.join(more)
        return found.take(np.flatnonzero(found.excess.max(axis=1) <= TIED))

    def _beside(self, best: Rules, targets: Array) -> tuple[Rules, Array]:
        """Rules at or near the budgets of some of the ``best``, one for each target, but one
        client's let go, zero, or half of what it has free, that were not yet ``tried``; and the
        target (B,) of each.
        """
        found, to = [best.take(np.arange(0))], []
        some = min(CHANGED // self.order.size**2 - len(self.tried), AT_ONCE)
        turns = [k for first in range(EVERY) for k in range(first, targets.size, EVERY)]
        levels = [(0.0, most / 2.0, SLACK_BUDGET) for most in self.free.local[0]]
        for k, client in itertools.product(turns, range(self.order.size)):
            for level in levels[client]:
                eps = best.budgets[k].copy()
                eps[client] = level
                if eps.tobytes() not in self.tried and len(to) < some:
                    self.tried.add(eps.tobytes())
                    found.append(self.family.solve(eps, enough=ENOUGH))
                    to.append(k)
        starts = functools.reduce(Rules.join, found)
        sound = starts.excess.max(axis=1, initial=0.0) <= ROUNDED
        return starts.take(np.flatnonzero(sound)), np.array(to, int)[sound]

    def solve(self, eps: Array, start: Array | None = None) -> Solution:
        """The certified solution at budgets (I,), in the federation's order."""
        return solve_by_dual(self.fed, self.task, eps, start=start)

    def _turned(self, rules: Rules) -> tuple[Array, Array]:
        """The rules' budgets (B, I), and multipliers (B, K) at costs as they are, in the
        federation's order.
        """
        back = np.argsort(self.order)
        lam = self.unit * rules.lam
        by_client = lam.reshape(len(lam), len(NOTIONS[self.task.notion]), back.size, -1)
        return rules.budgets[:, back], by_client[:, :, back].reshape(lam.shape)

    @property
    def unit(self) -> float:
        """The largest cost: the family's gains and multipliers are those at costs over it."""
        return float(self.task.costs.max())

    def points(self, rules: Rules) -> Points:
        """What the rules attain."""
        worth = 1.0 + self.unit * (rules.accuracy - 1.0)
        return Points(rules.disparity, worth, *self._turned(rules))

    def solved(self, rules: Rules, *, warm: bool = True) -> list[Solution]:
        """The rules' budgets solved again and certified, from their multipliers unless told to
        start from nothing.
        """
        eps, lam = self._turned(rules)
        return self._certified(eps, lam if warm else None)

    def certified(self, eps: Array) -> list[Solution]:
        """The solutions at budgets (B, I) in the search's order."""
        return self._certified(eps[..., np.argsort(self.order)], None)

    def _certified(self, eps: Array, starts: Array | None) -> list[Solution]:
        """What is not certified is left out."""
        out = []
        for k, own in enumerate(eps):
            with suppress(CertificationError):
                out.append(self.solve(own, None if starts is None else starts[k]))
        return out


def below(known: Rules, targets: Array) -> Rules:
    """The most accurate of the ``known`` rules, ordered, with |MD| at most the targets; else the
    least disparate.
    """
    return known.take(
        np.maximum(np.searchsorted(known.disparity, targets + MET, side="right") - 1, 0)
    )


def ordered(rules: Rules) -> Rules:
    """By increasing |MD|, dominated ones left out."""
    rules = rules.take(np.lexsort((-rules.accuracy, rules.disparity)))
    best = np.maximum.accumulate(rules.accuracy)
    return rules.take(np.flatnonzero(np.append(True, rules.accuracy[1:] > best[:-1])))
