"""The search for LFT+FedAvg's best rules on densities: multi-start and continuation (FedFB,
lemma 18).

Each λ gives a solution for its own budgets (``rule_family``). Local searches
(``densities_sqp``) run to a few target disparities from rules at random budgets that differ in who
is bound; then to every target from the best rules at the disparities beside it, again where those
two lead to different rules and something was gained. The results are solved again for their
budgets and certified as in ``solve``. That no better budgets exist is searched for, not proven.
"""

from __future__ import annotations

import functools
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import MET, SLACK_BUDGET, Points
from fairfl.solvers.lft_fedavg.densities_sqp import climb, merit, restored
from fairfl.solvers.numerics.certify import solve_by_dual
from fairfl.solvers.numerics.descent import ENOUGH
from fairfl.solvers.numerics.rule_family import TIGHT, RuleFamily, Rules
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import LAW_TOLERANCE, CertificationError, Solution
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS


class Effort(NamedTuple):
    """Random budgets to start from; how many of them are solved, where the others are followed from
    the nearest known; and starts for each target of the multi-start.
    """

    budgets: int
    solved: int
    width: int


EFFORTS = {"ordinary": Effort(160, 12, 6), "thorough": Effort(1600, 160, 24)}
PASSES = 2
"""Times that budgets are followed."""
FEW = 8
"""Clients up to which each is bound alone, and let go alone, in a start."""
COARSE = 12
"""Targets of the multi-start."""
ROUNDS, SWEEPS = 12, 5
"""Steps of a local search; times that searches start from their neighbours' results, at most."""
GAINED = 1e-10
"""Accuracy that makes another sweep worth while."""
ROUNDED = 1e-9
"""|MD_k| up to which a multiplier may have the wrong sign in a start: corners are tight up to
rounding.
"""
NEARLY = 1e-2
"""From smallest disparities up to this, zero itself is tried."""
FAIR = LAW_TOLERANCE
"""Disparities up to this are reported as zero."""


@dataclass(frozen=True)
class MultiplierSearch:
    """A federation's rules f_λ, the reach (K,) of their multipliers, and starts all over them, the
    free rule first.

    Which of several maxima is found may depend on rounding. So the search has the clients in an
    ``order`` (I,) of its own, and their order in the federation does not matter.
    """

    fed: Federation
    task: Task
    order: Array
    family: RuleFamily
    reach: Array
    starts: Rules
    effort: Effort

    @classmethod
    def of(cls, fed: Federation, task: Task, effort: str = "ordinary") -> MultiplierSearch:
        """Starts: no constraint; all, one, or all but one exactly tight; and random budgets.

        The groups' names do not matter to the draws.
        """
        assert isinstance(fed.model, ContinuousModel)
        own = np.array([np.ravel([law.middle for law in laws]) for laws in fed.model.laws])
        turn = np.lexsort(np.column_stack([own, fed.share, fed.weight]).T)
        family = RuleFamily.of(fed.part(turn.tolist()), task)
        count, clients = family.problem.count, fed.n_clients
        free = family.at(np.zeros((1, count)))
        order = np.argsort(free.local[0], kind="stable")
        budgets, some, _ = EFFORTS[effort]
        rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
        tight = rng.random((budgets, clients)) < np.linspace(0.0, 1.0, budgets)[:, None]
        scale = np.where(np.arange(budgets)[:, None] % 2, rng.random(tight.shape), 0.0)
        drawn = np.empty(tight.shape)
        drawn[:, order] = np.where(tight, scale * free.local[0, order], SLACK_BUDGET)
        one = np.eye(clients)[: clients if clients <= FEW else 0]
        solved = np.concatenate([np.zeros((1, clients)), one, 1.0 - one])
        solved = np.concatenate([solved, drawn[:: budgets // some]])

        def solve(eps: Array) -> Rules:
            return _sound(family.solve(eps, enough=ENOUGH))

        starts = functools.reduce(Rules.join, map(solve, solved), free)
        most, rest = np.maximum(free.local[0], TIGHT), drawn
        for _ in range(PASSES):
            far = np.abs(np.minimum(rest, most)[:, None] - np.minimum(starts.budgets, most)) / most
            near = starts.take(far.max(axis=2).argmin(axis=1))
            found, met = family.follow(near, rest)
            starts, rest = starts.join(_sound(found.take(np.flatnonzero(met)))), rest[~met]
        alone = rest[:: max(len(rest) // some, 1)]
        starts = functools.reduce(Rules.join, map(solve, alone), starts)
        reach = np.abs(starts.lam).max(axis=0)
        reach = np.where(family.bound, np.maximum(reach, 0.01 * reach.max()), 0.0)
        return cls(fed, task, turn, family, reach, starts, EFFORTS[effort])

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
        low = self._lowest(np.array([-np.inf]), self.starts)
        if low.disparity[0] > NEARLY:
            return low
        fair = restored(self.family, self._lowest(np.zeros(1), self.starts.join(low)), 0.0)
        return fair if fair.disparity[0] <= FAIR else low

    def _lowest(self, target: Array, known: Rules) -> Rules:
        found = self.at(target, known, 4 * self.effort.width)
        return climb(self.family, found, target, self.reach, 4 * ROUNDS, by_budgets=True)

    def at(self, targets: Array, known: Rules, count: int | None = None) -> Rules:
        """The most accurate rules with |MD| <= targets (P,) that local searches find from ``count``
        of the ``known`` ones each.
        """
        count = self.effort.width if count is None else count
        rows = np.stack([self._various(known, target, count) for target in targets])
        found = self._best(known.take(rows.ravel()), targets, ROUNDS, 2)
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
        """The best ``kept`` for each target of searches from ``starts``, equally many for each."""
        goal = np.repeat(targets, starts.md.size // targets.size)
        found = climb(self.family, starts, goal, self.reach, rounds)
        order = np.argsort(-merit(found, goal).reshape(targets.size, -1), axis=1, kind="stable")
        first = np.arange(targets.size)[:, None] * (goal.size // targets.size)
        return found.take((order[:, :kept] + first).ravel())

    def settled(self, targets: Array, known: Rules, *, patient: bool = False) -> Rules:
        """The rules at the targets (P,), increasing, and the ``known`` ones, by increasing |MD|:
        each from the best on both sides, and again beside where these differ and one gained.
        """
        near = np.ones(targets.size, bool)
        for sweep in range(SWEEPS):
            before, rows = below(known, targets), np.flatnonzero(near)
            right = np.searchsorted(known.disparity, targets[rows] + MET, side="right")
            both = np.clip(right[:, None] + np.arange(-1, 1), 0, known.md.size - 1)
            goal = np.repeat(targets[rows], 2)
            start, late = known.take(both.ravel()), patient or sweep > 0
            found = climb(self.family, start, goal, self.reach, ROUNDS, by_budgets=late)
            worth = merit(found, goal).reshape(-1, 2)
            known = ordered(known.join(found))
            gain = merit(below(known, targets), targets) - merit(before, targets)
            # where both sides lead to one rule nothing else is tried
            open_ = np.zeros(targets.size, bool)
            open_[rows] = np.ptp(worth, axis=1) > GAINED
            open_ &= gain > GAINED
            near = open_.copy()
            near[1:] |= open_[:-1]
            near[:-1] |= open_[1:]
            if not near.any():
                break
        return known

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


def _sound(rules: Rules) -> Rules:
    """Those that solve their problems."""
    return rules.take(np.flatnonzero(rules.excess.max(axis=1, initial=0.0) <= ROUNDED))
