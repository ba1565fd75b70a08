"""The search for LFT+FedAvg's best rules on densities: multi-start and continuation (FedFB,
lemma 18).

Each λ gives a solution for its own budgets (``density_rules``). Local searches
(``densities_sqp``) run to a few target disparities from rules at random budgets that differ in who
is bound; then to every target from the best rules at the disparities beside it, again where those
two lead to different rules and something was gained. The results are certified for their budgets.
That no better budgets exist is searched for, not proven.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities import solve_by_dual
from fairfl.solvers.density_rules import TIGHT, RuleFamily, Rules, certify_rules
from fairfl.solvers.frontier import MET, SLACK_BUDGET, Points, points_of
from fairfl.solvers.lft_fedavg.densities_budgets import step_budgets
from fairfl.solvers.lft_fedavg.densities_penalty import penalised
from fairfl.solvers.lft_fedavg.densities_sqp import GAINED, climb, merit
from fairfl.solvers.numerics.descent import on_cells
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import LAW_TOLERANCE, CertificationError, Solution
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

FEW, MANY = 6, 300
"""Clients up to which each is bound alone, and let go alone, in a start; and clients times starts
where these are more.
"""
SOLVED = 13
"""Of the random budgets every 13th is solved; the others are followed from the nearest known."""
COARSE = 12
"""Targets of the multi-start."""
ROUNDS, SWEEPS = 12, 5
"""Steps of a local search; times that searches start from their neighbours' results, at most."""
APART = 1e-5
"""Accuracies of two searches that end in different maxima differ by more."""
NEARLY = 3e-2
"""From smallest disparities up to this, zero itself is tried."""
COMMON = 16
"""Common budgets whose rules join the search."""
TOGETHER = 100
"""Rules certified at a time: bounds the memory."""


@dataclass(frozen=True)
class MultiplierSearch:
    """A federation's rules f_λ, the reach (K,) of their multipliers, starts all over them, the free
    rule first, and how many of them are taken for each target (``width``).

    Which of several maxima is found may depend on rounding. So the search has the clients in an
    ``order`` (I,) of its own, and their order in the federation does not matter.
    """

    fed: Federation
    task: Task
    order: Array
    family: RuleFamily
    reach: Array
    starts: Rules
    width: int

    @classmethod
    def of(cls, fed: Federation, task: Task, effort: str = "ordinary") -> MultiplierSearch:
        """Starts: no constraint; all, one, or all but one exactly tight; and random budgets.

        The groups' names do not matter to the draws.
        """
        assert isinstance(fed.model, ContinuousModel)
        own = np.array([np.ravel([law.middle for law in laws]) for laws in fed.model.laws])
        turn = np.lexsort(np.column_stack([own, fed.share, fed.weight]).T)
        family, clients = RuleFamily.of(fed.part(turn.tolist()), task), fed.n_clients
        starts = free = family.at(np.zeros((1, family.problem.count)))
        hard = task.sees == "x" or family.constant.size > 1  # many maxima
        budgets, penalties, width = _efforts(effort, clients, family.problem.count, hard=hard)
        if budgets:
            starts = starts.join(_drawn(family, free, budgets))
        if penalties:
            wanted = np.linspace(0.0, free.disparity[0], COARSE + 1)[:-1]
            starts = starts.join(_sound(penalised(family, free, wanted, penalties)))
        reach = np.abs(starts.lam).max(axis=0)
        reach = np.where(family.bound, np.maximum(reach, 0.01 * reach.max()), 0.0)
        return cls(fed, task, turn, family, reach, starts, width)

    def targets(self, count: int) -> Array:
        """Even disparities (count,) from the smallest of the starts, or 0, to the free rule's."""
        least = float(self.starts.disparity.min())
        return np.linspace(least if least > NEARLY else 0.0, self.free.disparity[0], count + 1)[:-1]

    @property
    def free(self) -> Rules:
        """The most accurate rule."""
        return self.starts.take(np.array([0]))

    @property
    def common(self) -> Rules:
        """Rules at even budgets, one for all clients."""
        even = np.arange(COMMON) * self.free.local.max() / COMMON
        eps = np.repeat(even[:, None], self.order.size, axis=1)
        start = self.family.at(on_cells(self.family.problem, self.family.limits(eps)))
        return _sound(self.family.follow(start, eps)[0])

    def fair(self) -> Points:
        """The solution at budgets of zero, where it is certified."""
        fair = self.starts.take(np.flatnonzero(self.starts.local.max(axis=1) <= TIGHT)[:1])
        if fair.md.size:
            return self.certified(fair)
        return points_of(self.fed, self.solved(np.zeros((1, self.fed.n_clients))))

    def lowest(self, found: Rules) -> Rules:
        """The rule with the smallest |MD| that searches from those ``found`` end in; at zero, it is
        the most accurate of those with MD 0.
        """

        def ended(target: float, start: Rules) -> Rules:
            goal = np.full(start.md.size, target)
            best = start.take(np.array([merit(start, goal).argmax()]))
            return climb(self.family, best, goal[:1], self.reach, 4 * ROUNDS)

        fair = ended(0.0, found)
        if fair.disparity[0] <= LAW_TOLERANCE:
            return fair
        least = ended(-np.inf, found.join(fair))
        if self.family.constant.size > 1:
            known = found.join(self.starts)
            for count in (2 * self.width, known.md.size):
                some = known.take(self._various(known, 0.0, count)).join(least)
                some = step_budgets(self.family, some, np.full(some.md.size, -np.inf))
                if some.disparity.min() <= LAW_TOLERANCE:
                    break
            least = some.take(np.array([merit(some, np.full(some.md.size, -np.inf)).argmax()]))
            fair = step_budgets(self.family, ended(0.0, some), np.full(1, -np.inf))
            least = fair if fair.disparity[0] <= LAW_TOLERANCE else least
        return least

    def at(self, targets: Array, known: Rules) -> Rules:
        """The best two rules for each target (P,) that local searches find from some of the
        ``known`` ones: a few steps from all of them, and more from the best two where these differ.
        Where they end apart there are many maxima: again, from twice as many and with more steps.
        """
        out = known.take(np.arange(0))
        for count, first in ((self.width, ROUNDS // 3), (2 * self.width, ROUNDS)):
            found = [self._various(known, target, count) for target in targets]
            found, goal = known.take(np.concatenate(found)), np.repeat(targets, count)
            found = climb(self.family, found, goal, self.reach, first)
            order = np.argsort(-merit(found, goal).reshape(-1, count), axis=1, kind="stable")
            best = (order[:, :2] + count * np.arange(targets.size)[:, None]).ravel()
            found, goal = found.take(best), goal[best]
            apart = _apart(found, goal, targets.size)
            rows = np.flatnonzero(np.repeat(apart, goal.size // targets.size))
            ended = climb(self.family, found.take(rows), goal[rows], self.reach, ROUNDS)
            found = found.replaced(rows, ended)
            out, known = out.join(found), known.join(found)
            targets = targets[_apart(found, goal, targets.size)]
            if not targets.size:
                break
        return out

    def _various(self, known: Rules, target: float, count: int) -> Array:
        """``count`` starts among the ``known`` rules, the best of each kind first."""
        order = np.argsort(-merit(known, np.full(known.md.size, target)), kind="stable")
        first = np.sort(np.unique(self._kinds(known)[order], axis=0, return_index=True)[1])
        others = np.setdiff1d(np.arange(order.size), first)
        return np.resize(order[np.append(first, others)], count)

    def settled(self, targets: Array, known: Rules) -> Rules:
        """The rules at the targets (P,), increasing, and the ``known`` ones, by increasing |MD|:
        each from the best on both sides, and again beside where these differ and one gained.
        Targets that no search reaches get a multi-start of their own.
        """
        near = np.ones(targets.size, bool)
        for sweep in range(SWEEPS):
            before, rows = below(known, targets), np.flatnonzero(near)
            start, place = self._beside(targets[rows], known, both=sweep > 0)
            place = rows[place]
            found = climb(self.family, start, targets[place], self.reach, ROUNDS)
            if sweep:
                found = step_budgets(self.family, found, targets[place])
            worth = merit(found, targets[place])
            most, least = np.full(targets.size, -np.inf), np.full(targets.size, np.inf)
            np.maximum.at(most, place, worth)
            np.minimum.at(least, place, worth)
            known = ordered(known.join(found))
            gain = merit(below(known, targets), targets) - merit(before, targets)
            # where both sides lead to one rule nothing else is tried
            open_ = (most - least > GAINED) & (gain > GAINED)
            near = np.convolve(open_, np.ones(3))[1:-1] > 0
            if not near.any():
                break
        # the best rule at a target has its disparity, but where the frontier is flat
        short = targets[targets - below(known, targets).disparity > LAW_TOLERANCE]
        if short.size:
            known = ordered(known.join(self.at(short, known)))
            found = climb(self.family, below(known, short), short, self.reach, ROUNDS)
            found = step_budgets(self.family, found, short)
            known = ordered(known.join(found))
        return known

    def between(self, targets: Array, known: Rules) -> Rules:
        """The best rule at each target (P,), from the ``known`` ones beside it, where none of these
        lead to it from all of them. No target changes the rule of another.
        """
        (one, first), (two, second) = (self._beside(targets, known, both=b) for b in (False, True))
        place = np.concatenate([first, second])
        found = climb(self.family, one.join(two), targets[place], self.reach, ROUNDS)
        best = below(known, targets)
        for k, target in enumerate(targets[:, None]):
            own = ordered(found.take(np.flatnonzero(place == k)).join(best.take(np.array([k]))))
            if target - below(own, target).disparity > LAW_TOLERANCE:
                more = self.at(target, known)
                more = more.join(step_budgets(self.family, more, target.repeat(more.md.size)))
                own = ordered(own.join(more))
            best = best.replaced(np.array([k]), below(own, target))
        return best

    def _beside(self, targets: Array, known: Rules, *, both: bool) -> tuple[Rules, Array]:
        """Starts for targets, and each start's target: the ``known`` rules on both sides, or where
        these are of one kind and not ``both`` are asked for, what lies between.
        """
        right = np.searchsorted(known.disparity, targets + MET, side="right")
        left, right = (np.clip(right + k, 0, known.md.size - 1) for k in (-1, 0))
        kinds = self._kinds(known)
        alike = (kinds[left] == kinds[right]).all(axis=1) & (left < right) & (not both)
        span = known.disparity[right] - known.disparity[left]
        part = (targets - known.disparity[left]) / span.clip(1e-300)
        lam = known.lam[left] + part[:, None] * (known.lam[right] - known.lam[left])
        one, two = np.flatnonzero(alike), np.flatnonzero(~alike)
        start = known.take(np.concatenate([left[two], right[two]]))
        return start.join(self.family.at(lam[one])), np.concatenate([two, two, one])

    def _kinds(self, rules: Rules) -> Array:
        """(B, K + P) who is bound, and how many cuts there are."""
        return np.concatenate([np.sign(rules.lam), rules.cuts], axis=1)

    def points(self, rules: Rules) -> Points:
        """What the rules attain, in the federation's order and at costs as they are."""
        back, lam = np.argsort(self.order), self.task.unit * rules.lam
        by_client = lam.reshape(len(lam), len(NOTIONS[self.task.notion]), back.size, -1)
        worth = 1.0 + self.task.unit * (rules.accuracy - 1.0)
        eps = rules.budgets[:, back]
        return Points(rules.disparity, worth, eps, by_client[:, :, back].reshape(lam.shape))

    def certified(self, rules: Rules) -> Points:
        """What the rules attain, certified for their budgets, or else the solutions for these."""
        out = points_of(self.fed, [])
        for rows in np.split(np.arange(rules.md.size), range(TOGETHER, rules.md.size, TOGETHER)):
            part = rules.take(rows)
            disparity, worth, sure = certify_rules(
                self.fed, self.task, self.family, part, self.order
            )
            points = self.points(part)
            fair = np.where(disparity <= LAW_TOLERANCE, 0.0, disparity)
            points = points._replace(disparity=fair, worth=1.0 + self.task.unit * (worth - 1.0))
            left = points.take(~sure)
            others = self.solved(left.eps, left.multipliers)
            out = out.join(points.take(sure)).join(points_of(self.fed, others))
        return out

    def solved(self, eps: Array, starts: Array | None = None) -> list[Solution]:
        """The solutions at budgets (B, I) in the federation's order, from multipliers ``starts`` or
        from nothing. What is not certified is left out.
        """
        out = []
        for own, start in itertools.zip_longest(eps, () if starts is None else starts):
            with suppress(CertificationError):
                out.append(solve_by_dual(self.fed, self.task, own, start=start))
        return out


def below(known: Rules, targets: Array) -> Rules:
    """The most accurate of the ``known`` rules, ordered, with |MD| at most the targets; else the
    least disparate.
    """
    after = np.searchsorted(known.disparity, targets + MET, side="right")
    return known.take(np.maximum(after - 1, 0))


def ordered(rules: Rules) -> Rules:
    """Those that solve their problems, by increasing |MD|, dominated ones left out."""
    rules = _sound(rules)
    rules = rules.take(np.lexsort((-rules.accuracy, rules.disparity)))
    best = np.maximum.accumulate(rules.accuracy)
    return rules.take(np.flatnonzero(np.append(True, rules.accuracy[1:] > best[:-1])))


def _efforts(name: str, clients: int, constraints: int, *, hard: bool) -> tuple[int, int, int]:
    """How many random budgets to start from, sets of penalties, random but for the first, and
    starts for each target: budgets for few clients, for more than three penalties too, and for many
    alone. A ``hard`` task of few has twice as many starts.
    """
    if name == "thorough":
        return 1600, 10, 24
    if clients <= FEW:
        budgets = min(20 * constraints**2 // clients, 160)
        return budgets, 3 * int(clients > 3), min(6, clients + 1) * (1 + hard)
    width = min(max(MANY // clients, 1), 6)
    return 0, 2 * width - 1, width


def _drawn(family: RuleFamily, free: Rules, budgets: int) -> Rules:
    """Rules at budgets: all, one, or all but one exactly tight; and random ones."""
    local, clients = free.local[0], free.local.shape[1]
    rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
    tight = rng.random((budgets, clients)) < np.linspace(0.0, 1.0, budgets)[:, None]
    scale = np.where(np.arange(budgets)[:, None] % 2, rng.random(tight.shape), 0.0)
    order, drawn = np.argsort(local, kind="stable"), np.empty(tight.shape)
    drawn[:, order] = np.where(tight, scale * local[order], SLACK_BUDGET)
    one = np.eye(clients)[: clients if clients <= FEW else 0]
    solved = np.concatenate([np.zeros((1, clients)), one, 1.0 - one, drawn[::SOLVED]])
    near = family.at(on_cells(family.problem, family.limits(solved)))
    most, out = np.maximum(local, TIGHT), free
    for eps in (solved, drawn):
        found, met = family.follow(near, eps)
        out = out.join(_sound(found.take(np.flatnonzero(met))))
        far = np.abs(np.minimum(drawn, most)[:, None] - np.minimum(out.budgets, most)) / most
        near = out.take(far.max(axis=2).argmin(axis=1))
    return out.take(np.arange(1, out.md.size))


def _apart(found: Rules, goal: Array, targets: int) -> Array:
    """(targets,) whether the rules for each target differ in what they are worth."""
    return np.ptp(merit(found, goal).reshape(targets, -1), axis=1) > APART


def _sound(rules: Rules) -> Rules:
    """Those that solve their problems."""
    return rules.take(np.flatnonzero(rules.sound))
