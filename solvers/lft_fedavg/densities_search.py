"""The search for LFT+FedAvg's best rules on densities: multi-start and continuation (FedFB, lemma
18; docs/lft_fedavg_search.md). That no better budgets exist is searched for, not proven.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules, certify_rules
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.frontier import SLACK_BUDGET, Points, points_of
from fairfl.solvers.lft_fedavg.densities_budgets import step_budgets
from fairfl.solvers.lft_fedavg.densities_sqp import climb, merit
from fairfl.solvers.lft_fedavg.densities_starts import penalised, rules_of_cfl
from fairfl.solvers.lft_fedavg.law_cells import LawCells
from fairfl.solvers.numerics.descent import on_cells
from fairfl.solvers.solution import LAW_TOLERANCE, CertificationError, Solution
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import BOUND_CLOSE, GAINED, MAXIMA_APART, MET, TIGHT
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

FEW, MANY = 6, 300
"""Up to FEW clients, starts bind each client alone, and all but each; beyond, the number of clients
times starts is MANY.
"""
SOLVED = 13
"""Of the random budgets every 13th is solved; the others are followed from the nearest known."""
ALWAYS = 3  # of so few clients CFL's rule is rarely optimal for any budgets
COARSE = 12  # targets of the multi-start
ROUNDS, SWEEPS = 12, 5  # steps of a local search; largest number of sweeps from neighbours' optima
NEARLY = 3e-2  # from smallest disparities up to this, zero itself is tried
TOGETHER = 100  # rules certified at a time: bounds the memory


@dataclass(frozen=True)
class MultiplierSearch:
    """A federation's rules f_λ, the reach (K,) of their multipliers, starts all over them, the free
    rule first, and how many are taken for each target (``width``); the ``cells`` of many clients.

    Which of several maxima is found may depend on rounding: the clients are sorted, by ``order``
    (I,).
    """

    fed: Federation
    task: Task
    order: Array
    family: RuleFamily
    reach: Array
    starts: Rules
    width: int
    cells: LawCells | None

    @classmethod
    def of(cls, fed: Federation, task: Task, effort: str = "ordinary") -> MultiplierSearch:
        """Starts: no constraint; all, one, or all but one exactly tight; and random budgets."""
        assert isinstance(fed.model, ContinuousModel)
        middles = np.array([np.ravel([law.middle for law in laws]) for laws in fed.model.laws])
        turn = np.lexsort(np.column_stack([middles, fed.share, fed.weight]).T)
        part, clients = fed.part(turn.tolist()), fed.n_clients
        family = RuleFamily.of(part, task)
        starts = free = family.at(np.zeros((1, family.problem.count)))
        hard = task.sees == "x" or family.constant.size > 1  # many maxima
        budgets, penalties, width = _efforts(effort, clients, family.problem.count, hard=hard)
        cells, is_far = None, True
        if clients > ALWAYS:
            cells = LawCells.of(family, part, task)
            targets = np.linspace(0.0, free.disparity[0], COARSE + 1)[:-1]
            starts = starts.join(_sound(rules_of_cfl(cells, targets)))
            is_far = _far(cells, targets, ordered(starts)).any()
        if budgets and is_far:
            starts = starts.join(_at_budgets(family, free, budgets))
        if penalties and is_far:
            targets = np.linspace(0.0, free.disparity[0], COARSE + 1)[:-1]
            starts = starts.join(_sound(penalised(family, free, targets, penalties)))
        reach = np.abs(starts.lam).max(axis=0)
        reach = np.where(family.bound, np.maximum(reach, 0.01 * reach.max()), 0.0)
        return cls(fed, task, turn, family, reach, starts, width, cells)

    def far(self, targets: Array, rules: Rules) -> Array:
        """(P,) bool, at which targets CFL is above the ``rules``, ordered; else none is better."""
        if self.cells is None:
            return np.ones(targets.size, bool)
        return _far(self.cells, targets, rules)

    def targets(self, count: int) -> Array:
        """Even disparities (count,) from the smallest of the starts, or 0, to the free rule's."""
        smallest = float(self.starts.disparity.min())
        return np.linspace(
            smallest if smallest > NEARLY else 0.0, self.free.disparity[0], count + 1
        )[:-1]

    @property
    def free(self) -> Rules:
        """The most accurate rule."""
        return self.starts.take(np.array([0]))

    def fair(self) -> Points:
        """The solution at budgets of zero, where it is certified."""
        fair = self.starts.take(np.flatnonzero(self.starts.local.max(axis=1) <= TIGHT)[:1])
        if fair.md.size:
            return self.certified(fair)
        return points_of(self.fed, self.solved(np.zeros((1, self.fed.n_clients))))

    def lowest(self, rules: Rules) -> Rules:
        """The rule with the smallest |MD| that searches from the ``rules`` reach; of several the
        best.
        """
        fair = self._climbed(0.0, rules)
        if fair.disparity[0] <= LAW_TOLERANCE:
            return fair
        lowest = self._climbed(-np.inf, rules.join(fair))
        if self.family.constant.size > 1:
            candidates = rules.join(self.starts)
            for count in (2 * self.width, candidates.md.size):
                trials = candidates.take(self._various(candidates, 0.0, count)).join(lowest)
                trials = step_budgets(self.family, trials, np.full(trials.md.size, -np.inf))
                if trials.disparity.min() <= LAW_TOLERANCE:
                    break
            lowest = _best(-np.inf, trials)
            fair = step_budgets(self.family, self._climbed(0.0, trials), np.full(1, -np.inf))
            lowest = fair if fair.disparity[0] <= LAW_TOLERANCE else lowest
        return lowest

    def _climbed(self, target: float, rules: Rules) -> Rules:
        """The rule that a long local search to a target reaches from the best of the rules."""
        goal = np.array([target])
        return climb(self.family, _best(target, rules), goal, self.reach, 4 * ROUNDS)

    def at(self, targets: Array, rules: Rules) -> Rules:
        """A multi-start: the best two rules for each target (P,) that local searches reach from
        some of the ``rules``: a few steps from all starts, more from the best two where these
        differ. Where they still differ it is repeated from twice as many starts and with more
        steps.
        """
        out = rules.take(np.arange(0))
        for count, first in ((self.width, ROUNDS // 3), (2 * self.width, ROUNDS)):
            starts = np.concatenate([self._various(rules, target, count) for target in targets])
            goal = np.repeat(targets, count)
            optima = climb(self.family, rules.take(starts), goal, self.reach, first)
            order = np.argsort(-merit(optima, goal).reshape(-1, count), axis=1, kind="stable")
            best = (order[:, :2] + count * np.arange(targets.size)[:, None]).ravel()
            optima, goal = optima.take(best), goal[best]
            has_maxima = _differ(optima, goal, targets.size)
            rows = np.flatnonzero(np.repeat(has_maxima, goal.size // targets.size))
            climbed = climb(self.family, optima.take(rows), goal[rows], self.reach, ROUNDS)
            optima = optima.replaced(rows, climbed)
            out, rules = out.join(optima), rules.join(optima)
            targets = targets[_differ(optima, goal, targets.size)]
            if not targets.size:
                break
        return out

    def _various(self, rules: Rules, target: float, count: int) -> Array:
        """``count`` starts among the ``rules``, the best of each kind first."""
        order = np.argsort(-merit(rules, np.full(rules.md.size, target)), kind="stable")
        first = np.sort(np.unique(self._kinds(rules)[order], axis=0, return_index=True)[1])
        others = np.setdiff1d(np.arange(order.size), first)
        return np.resize(order[np.append(first, others)], count)

    def settled(self, targets: Array, rules: Rules) -> Rules:
        """The ``rules`` and optima at the targets (P,), increasing, by increasing |MD|. Each target
        is searched from the best rules on both sides; where their optima differ and one is better
        than before, it and its neighbours again. Targets that no search reaches get a multi-start.
        """
        is_active = self.far(targets, rules)
        for sweep in range(SWEEPS):
            before, rows = below(rules, targets), np.flatnonzero(is_active)
            start, target_of_start = self._beside(targets[rows], rules, both=sweep > 0)
            target_of_start = rows[target_of_start]
            optima = climb(self.family, start, targets[target_of_start], self.reach, ROUNDS)
            if sweep:
                optima = step_budgets(self.family, optima, targets[target_of_start])
            worth = merit(optima, targets[target_of_start])
            highest, lowest = np.full(targets.size, -np.inf), np.full(targets.size, np.inf)
            np.maximum.at(highest, target_of_start, worth)
            np.minimum.at(lowest, target_of_start, worth)
            rules = ordered(rules.join(optima))
            gain = merit(below(rules, targets), targets) - merit(before, targets)
            # a target is finished where both sides lead to the same rule
            is_open = (highest - lowest > GAINED) & (gain > GAINED)
            is_active = (np.convolve(is_open, np.ones(3))[1:-1] > 0) & self.far(targets, rules)
            if not is_active.any():
                break
        # the best rule at a target has its disparity, but where the frontier is flat
        missed = targets[targets - below(rules, targets).disparity > LAW_TOLERANCE]
        if missed.size:
            rules = ordered(rules.join(self.at(missed, rules)))
            optima = climb(self.family, below(rules, missed), missed, self.reach, ROUNDS)
            optima = step_budgets(self.family, optima, missed)
            rules = ordered(rules.join(optima))
        return rules

    def between(self, targets: Array, rules: Rules) -> Rules:
        """The best rule at each target (P,), from the neighbouring ``rules``, or where these do not
        reach the target from all of them. No target changes the rule of another.
        """
        pairs = [self._beside(targets, rules, both=both) for both in (False, True)]
        starts, places = zip(*pairs, strict=True)
        place = np.concatenate(places)
        optima = climb(self.family, starts[0].join(starts[1]), targets[place], self.reach, ROUNDS)
        best = below(rules, targets)
        for k, target in enumerate(targets[:, None]):
            local = ordered(optima.take(np.flatnonzero(place == k)).join(best.take(np.array([k]))))
            if target - below(local, target).disparity > LAW_TOLERANCE:
                extra = self.at(target, rules)
                extra = extra.join(step_budgets(self.family, extra, target.repeat(extra.md.size)))
                local = ordered(local.join(extra))
            best = best.replaced(np.array([k]), below(local, target))
        return best

    def _beside(self, targets: Array, rules: Rules, *, both: bool) -> tuple[Rules, Array]:
        """Starts for targets, and each start's target: the neighbouring ``rules`` on both sides;
        without ``both``, for neighbours of one kind, the rule with interpolated multipliers.
        """
        right = np.searchsorted(rules.disparity, targets + MET, side="right")
        left, right = (np.clip(right + k, 0, rules.md.size - 1) for k in (-1, 0))
        kinds = self._kinds(rules)
        is_one_kind = (kinds[left] == kinds[right]).all(axis=1) & (left < right) & (not both)
        span = rules.disparity[right] - rules.disparity[left]
        part = (targets - rules.disparity[left]) / span.clip(1e-300)
        lam = rules.lam[left] + part[:, None] * (rules.lam[right] - rules.lam[left])
        inner, outer = np.flatnonzero(is_one_kind), np.flatnonzero(~is_one_kind)
        start = rules.take(np.concatenate([left[outer], right[outer]]))
        return start.join(self.family.at(lam[inner])), np.concatenate([outer, outer, inner])

    def _kinds(self, rules: Rules) -> Array:
        """(B, K + P) signs of the multipliers, and numbers of cuts."""
        return np.concatenate([np.sign(rules.lam), rules.cuts], axis=1)

    def points(self, rules: Rules) -> Points:
        """What the rules attain, in the federation's order and at costs as they are."""
        back, lam = np.argsort(self.order), self.task.unit * rules.lam
        by_client = lam.reshape(len(lam), len(NOTIONS[self.task.notion].rates), back.size, -1)
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
        """The solutions at budgets (B, I), from multipliers ``starts``; certified ones only."""
        out = []
        for budgets, start in itertools.zip_longest(eps, () if starts is None else starts):
            with suppress(CertificationError):
                out.append(solve_by_dual(self.fed, self.task, budgets, start=start))
        return out


def below(rules: Rules, targets: Array) -> Rules:
    """The most accurate of ordered ``rules`` with |MD| at most the targets; else the fairest."""
    after = np.searchsorted(rules.disparity, targets + MET, side="right")
    return rules.take(np.maximum(after - 1, 0))


def ordered(rules: Rules) -> Rules:
    """The non-dominated rules that solve their problems, by increasing |MD|."""
    rules = _sound(rules)
    rules = rules.take(np.lexsort((-rules.accuracy, rules.disparity)))
    best = np.maximum.accumulate(rules.accuracy)
    return rules.take(np.flatnonzero(np.append(True, rules.accuracy[1:] > best[:-1])))


def _efforts(name: str, clients: int, constraints: int, *, hard: bool) -> tuple[int, int, int]:
    """Numbers of random budgets, of sets of penalties, and of starts for each target. Few clients
    start from budgets, more than three from penalties too, many from these alone; if ``hard`` from
    twice as many.
    """
    if name == "thorough":
        return 1600, 10, 24
    if clients <= FEW:
        budgets = min(20 * constraints**2 // clients, 160)
        return budgets, 3 * int(clients > 3), min(6, clients + 1) * (1 + hard)
    width = min(max(MANY // clients, 1), 6)
    return 0, 2 * width - 1, width


def _at_budgets(family: RuleFamily, free: Rules, budgets: int) -> Rules:
    """Rules at budgets where all clients', one, or all but one are 0, and at random budgets."""
    local, clients = free.local[0], free.local.shape[1]
    rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
    tight = rng.random((budgets, clients)) < np.linspace(0.0, 1.0, budgets)[:, None]
    scale = np.where(np.arange(budgets)[:, None] % 2, rng.random(tight.shape), 0.0)
    order, random_eps = np.argsort(local, kind="stable"), np.empty(tight.shape)
    random_eps[:, order] = np.where(tight, scale * local[order], SLACK_BUDGET)
    single = np.eye(clients)[: clients if clients <= FEW else 0]
    solved = np.concatenate([np.zeros((1, clients)), single, 1.0 - single, random_eps[::SOLVED]])
    start = family.at(on_cells(family.problem, family.limits(solved)))
    cap, out = np.maximum(local, TIGHT), free
    for eps in (solved, random_eps):
        rules, met = family.follow(start, eps)
        out = out.join(_sound(rules.take(np.flatnonzero(met))))
        distance = np.abs(np.minimum(random_eps, cap)[:, None] - np.minimum(out.budgets, cap)) / cap
        start = out.take(distance.max(axis=2).argmin(axis=1))
    return out.take(np.arange(1, out.md.size))


def _differ(rules: Rules, goal: Array, targets: int) -> Array:
    """(targets,) whether the merits of the rules for each target differ."""
    return np.ptp(merit(rules, goal).reshape(targets, -1), axis=1) > MAXIMA_APART


def _far(cells: LawCells, targets: Array, rules: Rules) -> Array:
    """(P,) bool, at which targets CFL is above the ``rules``, ordered."""
    best = below(rules, targets)
    above = cells.cfl_rules(targets).accuracy - best.accuracy
    return (best.disparity > targets + LAW_TOLERANCE) | (above > BOUND_CLOSE)


def _sound(rules: Rules) -> Rules:
    """Those that solve their problems."""
    return rules.take(np.flatnonzero(rules.sound))


def _best(target: float, rules: Rules) -> Rules:
    """The best of the rules for a target."""
    return rules.take(np.array([merit(rules, np.full(rules.md.size, target)).argmax()]))
