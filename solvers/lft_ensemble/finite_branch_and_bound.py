"""LFT+Ensemble over all budgets on a finite X, for every notion and any number of groups, by branch
and bound.

A client's own best utility is concave and piecewise linear in its budget, and where it is linear,
mixtures of the rules at both ends are optimal. So an ensemble is a segment and a place on it for
each client. Everybody's utility and rates are sums over clients, linear along segments. With
mixtures of a client's segments the best ensemble with at most a given disparity is a linear
programme, and an upper bound; where a client is on several segments, its budgets are split between
them, and both parts are bounded again.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.client_path import client_path
from fairfl.solvers.finite_x.linear_programme import optimum, solve_ensemble_finite
from fairfl.solvers.frontier import Points, points_of
from fairfl.solvers.lft_ensemble.search import EnsembleSearch
from fairfl.solvers.numerics.highs import Programme
from fairfl.solvers.numerics.segments import concave_breaks
from fairfl.solvers.problem import Problem, law_problem, own_problems, stored_with_federation
from fairfl.solvers.solution import CertificationError, Solution
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import PARTS_CLOSE, SAME_BUDGET, SAME_RULE, ZERO_BUDGET
from fairfl.theory.populations.federation import Federation

INSIDE = 1e-6  # a segment without its ends begins at this share of its length
MANY = 100  # a table of more clients is sparse: at 300 that takes 0.6 of the time, at six 1.7 of it
NODES = 2000  # parts that one search may look at; its best ensemble until then counts


@dataclass(frozen=True)
class Segments(EnsembleSearch):
    """Segments of the clients' solutions, with what both ends add to the pooled problem.

    Attributes
    ----------
    client : (S,).  eps : (S, 2) budgets of the ends.  gain : (S, 2).  rows : (M, S, 2).
    pooled : everybody's problem with a budget of one.
    rules : (S, 2, N) of the clients at the ends, None where ``solve`` has no choice on a segment.
    nodes : parts that one search may look at.
    cut_short : the bounds of searches that ended there.
    """

    fed: Federation
    task: Task
    client: Array
    eps: Array
    gain: Array
    rows: Array
    pooled: Problem
    rules: Array | None = None
    nodes: int = NODES
    cut_short: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, fed: Federation, task: Task) -> Segments:
        """All segments of all clients."""
        pooled = law_problem(fed, task)
        eps, gain, rows, rules = zip(*_parts(fed, task), strict=True)
        client = np.repeat(np.arange(fed.n_clients), [len(budgets) for budgets in eps])
        weight = fed.weight[client, None]
        terms = weight * np.concatenate(gain), weight * np.concatenate(rows, axis=1)
        ends = None if rules[0] is None else np.concatenate(rules)
        return cls(fed, task, client, np.concatenate(eps), *terms, pooled, ends, NODES)

    def best(self, disparity: float | None) -> Array | None:
        """(I,) budgets of the best ensemble with at most ``disparity``; None without one."""
        shares = self.searched(disparity)[2]
        return None if shares is None else self.budgets(shares)

    def budgets(self, shares: Array) -> Array:
        """(I,) of shares (S, 2) of the segments' ends."""
        eps = np.zeros(self.fed.n_clients)
        np.add.at(eps, self.client, (shares * self.eps).sum(axis=1))
        free = np.array([self.eps[k].max() for k in self.whose])
        return np.where(eps >= free, 1.0, np.where(eps > ZERO_BUDGET, eps, 0.0))

    def common(self, eps: Array) -> tuple[Array, Array]:
        """Everybody's MD and worths at one budget (P,) for all, of one constraint each."""
        table = np.stack([self.gain, self.rows[0]])
        total = np.zeros((2, eps.size))
        for k in self.whose:
            total += [np.interp(eps, self.eps[k].ravel(), values[k].ravel()) for values in table]
        return total[1] + self.pooled.b[0], self.pooled.base + total[0]

    def searched(
        self, disparity: float | None, allowed: Array | None = None
    ) -> tuple[float, float, Array | None]:
        """The utility less its constant, or minus the disparity, of the best ensemble on segments
        ``allowed`` (S,), a bound on all others', and the shares (S, 2) of its segments' ends.
        """
        search = BranchAndBound(self, disparity)
        search.add(np.ones(len(self.client), bool) if allowed is None else allowed)
        while search.is_open and next(search.count) < self.nodes:
            search.branch()
        bound = max(search.worth + PARTS_CLOSE, search.bound)
        if bound > search.worth + PARTS_CLOSE:
            self.cut_short.append(bound)
        return search.worth, bound, search.shares

    @cached_property
    def whose(self) -> list[Array]:
        """Each client's segments, by increasing budgets."""
        order = np.lexsort((self.eps[:, 1], self.eps[:, 0]))
        return [order[self.client[order] == i] for i in range(self.fed.n_clients)]

    def relaxed(
        self, disparity: float | None, segments: Array
    ) -> tuple[float, Array, Array] | None:
        """The best worth of mixtures of ``segments`` (S,), shares (S, 2) of ends, and prices."""
        programme, b = self.programme
        cost, high = np.zeros((2, 2 * self.client.size + self.pooled.levels + 1))
        high[:] = np.append(np.repeat(segments, 2), np.ones(self.pooled.levels + 1))
        if disparity is None:
            cost[-1] = 1.0
        else:
            cost[: 2 * segments.size], high[-1] = -self.gain.ravel(), disparity
        ones, none = np.ones(self.fed.n_clients), np.full(b.size, np.inf)
        lowest, highest = np.concatenate([ones, -b, -none]), np.concatenate([ones, none, -b])
        optimum = programme.refined(-cost, np.zeros(cost.size), high, lowest, highest)
        if optimum is None:
            return None
        prices = -cost - optimum.y @ programme.table
        shares, prices = (v[: 2 * segments.size].reshape(-1, 2) for v in (optimum.x, prices))
        # a client's sum to one: a last bit missing would move a budget past a jump of its rule
        shares = shares / np.bincount(self.client, shares.sum(axis=1))[self.client, None]
        return optimum.value, shares, np.where(segments, prices.max(axis=1), -np.inf)

    @cached_property
    def programme(self) -> tuple[Programme, Array]:
        """The programme in the shares of all ends, levels and the disparity; constants (R,)."""
        pooled, is_limited = self.pooled, np.isfinite(self.pooled.eps)
        level = pooled.v[is_limited, pooled.u.size - pooled.levels :]
        ends = self.rows[is_limited].reshape(-1, 2 * self.client.size)
        shared, half = np.concatenate([ends, level], axis=1), pooled.eps[is_limited, None]
        owner = np.repeat(self.client, 2)
        ones = np.ones(owner.size), (owner, np.arange(owner.size))
        whose = scipy.sparse.csr_array(ones, (self.fed.n_clients, shared.shape[1] + 1))
        limits = np.block([[shared, half], [shared, -half]])
        table = scipy.sparse.vstack([whose, scipy.sparse.csr_array(limits)], format="csr")
        many = self.fed.n_clients > MANY
        return Programme(table if many else table.toarray()), pooled.b[is_limited]

    def attained(self, disparities: Sequence[float | None]) -> Points:
        """The best certified ensembles with at most the disparities; mixtures at ends count."""
        solutions = []
        for disparity in disparities:
            shares = self.searched(disparity)[2]
            if shares is not None:
                with suppress(CertificationError):
                    solutions.extend(self.solutions(shares))
        return points_of(self.fed, solutions)

    def solutions(self, shares: Array) -> Iterator[Solution]:
        """The solution at the budgets of shares (S, 2), and if it differs the mixture."""
        question = self.fed, self.task, self.budgets(shares)
        solution = solve_ensemble_finite(*question)
        yield solution
        if self.rules is not None:
            mixed = [np.tensordot(shares[k], self.rules[k]) for k in self.whose]
            yield solve_ensemble_finite(*question, (mixed, solution.multipliers))

    def mixture(self, eps: Array, disparity: float) -> Solution:
        """The most useful solution with at most a disparity on the segments of budgets (I,)."""
        ends = np.minimum(eps, [self.eps[k].max() for k in self.whose])[self.client]
        is_between = np.abs(ends - ends.clip(*self.eps.T)) <= SAME_BUDGET
        shares = self.searched(disparity, is_between)[2]
        if shares is None:
            raise CertificationError("no mixture at the budgets has the disparity")
        return [*self.solutions(shares)][-1]

    @property
    def exact(self) -> bool:
        """Where each client has one constraint and no search was cut short."""
        return not self.task.several and not self.cut_short

    def bound(self, disparity: Array) -> Array:
        """(P,) what no ensemble with at most the disparities (P,) is worth more than."""
        return self.pooled.base + np.array([self.searched(float(d))[1] for d in disparity])


@dataclass
class BranchAndBound:
    """A search for the best ensemble with at most a disparity, or for the least disparate (None).

    ``worth`` and ``shares`` (S, 2) are the best so far: its utility, or minus its disparity, and
    the shares of the segments' ends. ``left`` is a heap of the parts that may hold a better one:
    minus the bound, a number that decides between equal ones, the segments of the part, their
    shares and prices.
    """

    segments: Segments
    disparity: float | None
    worth: float = -np.inf
    shares: Array | None = None
    left: list[tuple[float, int, Array, Array, Array]] = field(default_factory=list)
    count: Iterator[int] = field(default_factory=itertools.count)

    @property
    def bound(self) -> float:
        """What no ensemble of the parts that are left is worth more than."""
        return -self.left[0][0] if self.left else -np.inf

    @property
    def is_open(self) -> bool:
        """Whether a part may hold a better ensemble."""
        return self.bound > self.worth + PARTS_CLOSE

    def add(self, allowed: Array) -> None:
        """The part of the segments ``allowed`` (S,), if it may hold a better ensemble."""
        relaxed = self.segments.relaxed(self.disparity, allowed)
        if relaxed is not None and relaxed[0] > self.worth + PARTS_CLOSE:
            heapq.heappush(self.left, (-relaxed[0], next(self.count), allowed, *relaxed[1:]))

    def branch(self) -> None:
        """Take the part of the largest bound, try its clients' main segments, and halve it."""
        negative_bound, _, allowed, mix, prices = heapq.heappop(self.left)
        whole = mix.sum(axis=1)
        self._try_main(whole)
        mixed = [k for k in self.segments.whose if whole[k].max() < 1.0 - SAME_RULE]
        if not mixed or -negative_bound <= self.worth + PARTS_CLOSE:
            return
        # the client whose mixture is worth the most more than its own curve there
        places = [int(whole[k] @ np.arange(k.size) / whole[k].sum()) for k in mixed]
        over = [prices[k].max() - prices[k[p]] for k, p in zip(mixed, places, strict=True)]
        k, place = mixed[int(np.argmax(over))], places[int(np.argmax(over))]
        for half in (k[: place + 1], k[place + 1 :]):
            part = allowed.copy()
            part[half] = False
            self.add(part)

    def _try_main(self, whole: Array) -> None:
        """The best ensemble in which each client is on the segment of its largest share (S,)."""
        alone = np.zeros(whole.size, bool)
        alone[[k[whole[k].argmax()] for k in self.segments.whose]] = True
        solution = self.segments.relaxed(self.disparity, alone)
        if solution is not None and solution[0] > self.worth:
            self.worth, self.shares, _ = solution


Parts = tuple[Array, Array, Array, Array | None]
"""Budgets and gains (S, 2), terms of the constraints (M, S, 2) and rules (S, 2, N) of a client."""


@stored_with_federation
def _parts(fed: Federation, task: Task) -> list[Parts]:
    pooled = law_problem(fed, task)
    of = _of_solutions if task.several else _of_path
    return [of(problem, pooled) for problem in own_problems(fed, task)]


def _of_path(problem: Problem, pooled: Problem) -> Parts:
    """Where there is one constraint: the edges of the path."""
    assert problem.path is not None
    eps, md, worth = (v[:, ::-1] for v in client_path(problem.path, pooled).edges)
    return eps, worth - pooled.base, md[None] - pooled.b[0], None


def _of_solutions(problem: Problem, pooled: Problem) -> Parts:
    """Between these budgets the best own utility is linear, and all mixtures are optimal."""
    cells = pooled.u.size - pooled.levels
    solved = functools.cache(functools.partial(_solved_alone, problem))
    ends_of_segments = []
    for low, high in itertools.pairwise(map(solved, concave_breaks(lambda eps: solved(eps)[1:3]))):
        width = high[0] - low[0]
        middle = solved(low[0] + 0.5 * width)
        if np.abs(low[3] - 2.0 * middle[3] + high[3])[:cells].max() <= SAME_RULE:
            ends_of_segments.append((low, high))
        else:  # of several optimal rules ``solve`` takes others at the ends, and between
            first, last = (solved(low[0] + share * width) for share in (INSIDE, 1.0 - INSIDE))
            ends_of_segments += [(low, low), (high, high), (first, middle), (middle, last)]
    eps, rules = (np.array([[end[k] for end in ends] for ends in ends_of_segments]) for k in (0, 3))
    rows = np.einsum("mc,sec->mse", pooled.v[:, :cells], rules[..., :cells])
    return eps, rules[..., :cells] @ pooled.u[:cells], rows, rules


def _solved_alone(problem: Problem, eps: float) -> tuple[float, float, float, Array]:
    """A client's budget, its best own utility, a slope of it, and the rule."""
    f, lam, _ = optimum(problem, np.array([eps]))
    return eps, float(problem.u @ f), problem.slope(lam), f
