"""LFT+FedAvg over all eps in [0, 1]^I on continuous laws: smallest disparity and frontier.

The search is over multipliers, each of which is a solution for its own budgets (``prices``). From starts all over
them, every target disparity is climbed to on its own (``price_ascent``); what comes out is solved again for its
budgets and certified as ``solve`` is. That no better budgets exist is searched for, not proven.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl.solvers.batch import minimise_duals
from fairfl.solvers.budgets import SLACK_BUDGET, corner_budgets
from fairfl.solvers.dual import dual_point, fedavg_constraints
from fairfl.solvers.fedavg import solve_fedavg
from fairfl.solvers.frontier import Frontier, build
from fairfl.solvers.price_ascent import ascend, merit
from fairfl.solvers.prices import Priced, PricedFamily
from fairfl.solvers.solution import LAW_TOLERANCE, CertificationError, Solution
from fairfl.theory.checks import Array
from fairfl.theory.federation import Federation

STARTS = 300
"""Random multipliers to start from."""
LOWEST = 6
"""Starts of the search for the smallest disparity."""
ROUNDS = 40
COARSE = 24
"""Disparities solved for from the starts; more are solved for from their neighbours."""
TIGHT = 1e-11
"""Budgets up to this are taken to be zero: that is how exactly a search by Newton steps meets MD_k = 0."""
FAIR = LAW_TOLERANCE
"""Disparities up to this are reported as zero."""


@dataclass(frozen=True)
class PriceSearch:
    """A federation's rules f_λ, the reach (K,) of their multipliers, and starts all over them."""

    fed: Federation
    family: PricedFamily
    reach: Array
    starts: Priced

    @classmethod
    def of(cls, fed: Federation) -> PriceSearch:
        """Starts: every constraint exactly tight or slack in all combinations, and random multipliers between."""
        problem = fedavg_constraints(fed)
        pooled = np.stack([fed.within[:, 0], -fed.within[:, 1]])
        free = dual_point(problem, np.zeros((1, problem.count)))
        md = sum(float(free.sets[a].integrals[0, 1:] @ pooled[a]) for a in (0, 1))
        family = PricedFamily(problem, pooled, 1.0 if md >= 0 else -1.0)
        corners = corner_budgets(np.flatnonzero(fed.defined), problem.count)
        found = minimise_duals(problem, corners, np.zeros_like(corners)).lam
        reach = np.abs(found).max(axis=0)
        reach = np.where(fed.defined, np.maximum(reach, 0.01 * reach.max()), 0.0)
        rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
        low, high = np.minimum(found.min(axis=0), 0.0), np.maximum(found.max(axis=0), 0.0)
        drawn = low + (high - low) * rng.random((STARTS, problem.count))
        drawn[rng.random(drawn.shape) < 0.2] = 0.0
        starts = family.at(np.concatenate([np.zeros((1, problem.count)), found, drawn]))
        sound = starts.excess.max(axis=1, initial=0.0) <= 1e-9  # corners are tight up to rounding
        sound[0] = True
        return cls(fed, family, reach, starts.take(np.flatnonzero(sound)))

    @property
    def free(self) -> Priced:
        """The most accurate rule."""
        return self.starts.take(np.array([0]))

    def lowest(self) -> Priced:
        """The rule with the smallest MD >= 0 that was found; below zero, it is the most accurate of those with MD 0."""
        first = self.starts.take(np.argsort(self.starts.md, kind="stable")[:LOWEST])
        if not self.reach.any():
            return self.free
        seeking = np.full(first.md.size, -np.inf)
        found = ascend(self.family, first, seeking, self.reach, ROUNDS)
        low = found.take(np.array([int(merit(found, seeking).argmax())]))
        if low.md[0] > FAIR:
            return low
        return self.at(np.zeros(1), low.join(self.starts))

    def at(self, targets: Array, known: Priced) -> Priced:
        """The most accurate rules with MD <= targets (P,) from the best of the ``known`` ones below each."""
        below = known.md[None, :] <= targets[:, None] + FAIR
        chosen = np.where(below, known.accuracy[None, :], -np.inf).argmax(axis=1)
        return ascend(self.family, known.take(chosen), targets, self.reach, ROUNDS)

    def refined(self, targets: Array, known: Priced) -> Priced:
        """As ``at``, from the neighbours on both sides among ``known``, which increase in MD."""
        right = np.clip(np.searchsorted(known.md, targets), 0, known.md.size - 1)
        rows = np.concatenate([np.maximum(right - 1, 0), right])
        both = np.tile(targets, 2)
        found = ascend(self.family, known.take(rows), both, self.reach, ROUNDS)
        worth = merit(found, both).reshape(2, -1)
        return found.take(worth.argmax(axis=0) * targets.size + np.arange(targets.size))

    def solved(self, rules: Priced, *, warm: bool = True) -> list[Solution]:
        """The rules' budgets solved again and certified, from their multipliers unless told to start from nothing.

        What is not certified is left out.
        """
        out = []
        for b in range(rules.md.size):
            eps = np.where(rules.lam[b] != 0, np.abs(rules.values[b]), SLACK_BUDGET)
            eps = np.where(eps <= TIGHT, 0.0, eps)
            try:
                out.append(solve_fedavg(self.fed, eps, rules.lam[b] if warm else None))
            except CertificationError:
                continue
        return out


def common_shares(fed: Federation) -> bool:
    """Whether P(i | a) is the same for both groups: then MD = Σ w_i MD_i, and eps = 0 is fair (FedFB, theorem 21)."""
    return bool(fed.defined.all() and np.abs(fed.within[:, 0] - fed.within[:, 1]).max() <= 1e-15)


def fedavg_frontier(fed: Federation, points: int) -> Frontier:
    """LFT+FedAvg's frontier: certified points, the best that a search over multipliers found."""
    search = PriceSearch.of(fed)
    low, free = search.lowest(), search.free
    known = low.join(free)
    targets = np.linspace(float(low.md[0]), float(free.md[0]), points)[1:-1]
    if free.md[0] - low.md[0] > FAIR and targets.size:
        coarse = targets[:: -(-targets.size // COARSE)]
        found = search.refined(targets, _ordered(search.at(coarse, search.starts.join(low)).join(known)))
        known = _ordered(found.join(known))
    solved = [*_fairest(search, low), *search.solved(known.take(np.flatnonzero(known.md > low.md[0])))]
    md = np.array([search.family.sign * s.mean_difference for s in solved])
    accuracy = np.array([s.accuracy for s in solved])
    disparity = np.where(np.abs(md) <= FAIR, 0.0, np.abs(md))

    def evaluate(d: Array) -> Array:
        found = search.refined(d, known)
        worth = np.where(np.abs(found.md) <= d + FAIR, merit(found, d), -np.inf)
        below = np.where(disparity[None, :] <= d[:, None], accuracy[None, :], -np.inf).max(axis=1)
        return np.maximum(worth, below)

    return build("lft_fedavg", disparity, accuracy, np.stack([s.eps for s in solved]), evaluate)


def _ordered(rules: Priced) -> Priced:
    """By increasing MD, dominated ones left out."""
    rules = rules.take(np.lexsort((-rules.accuracy, rules.md)))
    best = np.maximum.accumulate(rules.accuracy)
    return rules.take(np.flatnonzero(np.append(True, rules.accuracy[1:] > best[:-1])))


def _fairest(search: PriceSearch, low: Priced) -> list[Solution]:
    """Certified solutions of the smallest disparity; where a tie spoils that of ``low``, the one that must be fair.

    They start from nothing, and so are just what ``solve`` returns for their budgets.
    """
    found = search.solved(low, warm=False) or search.solved(low)
    if common_shares(search.fed) and not (found and found[0].disparity <= FAIR):
        found.append(solve_fedavg(search.fed, np.zeros(search.fed.n_clients)))
    return found or [solve_fedavg(search.fed, np.full(search.fed.n_clients, SLACK_BUDGET))]


def fedavg_minimum(fed: Federation) -> tuple[float, float, Array]:
    """(disparity, accuracy, eps) of the least disparate solution, certified; of several fair ones an accurate one."""
    search = PriceSearch.of(fed)
    best = min(_fairest(search, search.lowest()), key=lambda s: s.disparity)
    return (0.0 if best.disparity <= FAIR else best.disparity), best.accuracy, best.eps
