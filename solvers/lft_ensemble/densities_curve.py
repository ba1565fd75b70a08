"""LFT+Ensemble's frontier and smallest disparity over all budgets on densities, for demographic
parity of two groups: ensembles as points of a box, a coordinate for each client's multiplier.

Pooled MD and accuracy are sums over clients of functions of one multiplier each, with one coupling
constraint: on the frontier all clients trade accuracy for MD at one common rate κ. Where η and q
are common this means λ_j = κ clipped to Λ_j, exactly. Otherwise a knapsack gives starts for
Newton's method.

The budgets of a point are the local |MD_j| of its rules. Where a client's own law has a gap,
several multipliers have one MD_j, and the point's may be another than that of ``solve``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.threshold import ThresholdProblem, solve_thresholds
from fairfl.solvers.frontier import Points
from fairfl.solvers.lft_ensemble.densities_tradeoff import Tradeoffs, spread_nodes
from fairfl.solvers.lft_ensemble.search import EnsembleSearch
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.solvers.tolerances import MD_ROUNDING
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation

Path = Callable[[Array, Array], Array]  # of shares in [0, 1] and positions (P,): coordinates (I, P)


@dataclass(frozen=True)
class EnsembleCurve(EnsembleSearch):
    """Points of LFT+Ensemble by its clients' coordinates u, λ_i = m_i tanh u, m_i the smaller mass
    (``cfl/threshold.py``), between 0 and that of the client's own fair rule. MD increases with u.
    """

    fed: Federation
    model: ContinuousModel

    @cached_property
    def problem(self) -> ThresholdProblem:
        """The clients' own problems."""
        return ThresholdProblem(self.model, self.fed.share)

    def solved(self, eps: Array) -> Array:
        """Coordinates (I, P) of the solutions at budgets (P, I): of clients with both groups."""
        budgets = np.where(self.fed.defined, eps, np.inf).T
        index = np.repeat(np.arange(len(budgets)), len(eps))
        return solve_thresholds(self.problem, budgets.ravel(), index)[0].reshape(budgets.shape)

    @cached_property
    def fair(self) -> Array:
        """(I, 1) those of the clients' own fair rules."""
        return self.solved(np.zeros((1, self.fed.n_clients)))

    @property
    def moves(self) -> Array:
        """(I,) whether clients have both groups, and budgets that bind."""
        return self.fair[:, 0] != 0.0

    @property
    def exact(self) -> bool:
        """Whether clients that can move share the pooled q and η: then trade-offs are concave."""
        moved = self.fed.share[self.moves, 1] - self.fed.group_mass[1]
        return bool((np.abs(moved) <= MD_ROUNDING).all()) and (not moved.size or self._one_eta)

    @property
    def _one_eta(self) -> bool:
        return len(set(self.model.etas)) == 1

    @cached_property
    def ends(self) -> Array:
        """(2, I, 1) coordinates of the clients' rules with the smallest and the largest MD."""
        return np.stack([np.minimum(self.fair, 0.0), np.maximum(self.fair, 0.0)])

    @cached_property
    def reachable(self) -> tuple[float, float]:
        """The interval of pooled MD over all budgets in [0, 1]^I: both ends are attained."""
        low, high = (float(self._total(end)[0]) for end in self.ends)
        return low, high

    def thresholds(self, u: Array) -> Array:
        """Thresholds (2, I, P) at coordinates (I, P)."""
        coordinates = u.clip(*self.ends).ravel(), np.arange(len(u)).repeat(u.shape[1])
        return self.problem.thresholds(*coordinates).reshape(2, *u.shape)

    def tradeoff_at(self, u: Array) -> tuple[Array, Array]:
        """The pooled MD and accuracy (I, N) of each client's rule at coordinates u (I, N)."""
        return self.pooled(self.thresholds(u))

    def pooled(self, t: Array) -> tuple[Array, Array]:
        """Pooled MD and accuracy of the rules x > t_a, t (2, ...), from the pooled expansions."""
        (u0, m0), (u1, m1) = (self.model.gain(a).above(t[a]) for a in (0, 1))
        md = m0 / self.fed.group_mass[0] - m1 / self.fed.group_mass[1]
        return md, 1.0 - self.fed.base_rate + u0 + u1

    @cached_property
    def tradeoffs(self) -> Tradeoffs:
        """What each client adds to the pooled MD and accuracy."""
        low, high = self.ends[..., 0]
        u = spread_nodes(self.tradeoff_at, low, np.where(self.moves, high, 1.0))
        return Tradeoffs(u, *self.tradeoff_at(u), self.fed.weight)

    def at(self, u: Array) -> tuple[Array, Array]:
        """Pooled MD (P,) and accuracy (P,) at coordinates (I, P)."""
        md, accuracy = self.tradeoff_at(u)
        return self.fed.weight @ md, self.fed.weight @ accuracy

    @cached_property
    def peak(self) -> Array:
        """(I, 1) the most accurate ensemble: λ = 0 where η is common. Elsewhere a client's own
        constraint may bring its rule nearer to the pooled η than its own η does.
        """
        if self._one_eta:
            return np.zeros((self.fed.n_clients, 1))
        table = self.tradeoffs
        node = np.take_along_axis(table.u, table.accuracy.argmax(axis=1)[:, None], axis=1)
        polished = table.polished(self._total, node, np.zeros(1), np.zeros(1, bool))
        return np.where(self.tradeoff_at(polished)[1] > self.tradeoff_at(node)[1], polished, node)

    def _total(self, u: Array) -> Array:
        return self.at(u)[0]

    def best(self, disparity: Array) -> Array:
        """Coordinates (I, P) of the best ensembles found with |MD| <= disparity (P,)."""
        low, high = self.reachable
        out = np.repeat(self.peak, disparity.size, axis=1)
        out[:, disparity <= max(low, -high, 0.0)] = self.ends[int(high < 0.0)]
        between = (disparity > max(low, -high)) & (disparity < abs(self._total(self.peak)[0]))
        between |= (disparity == 0.0) & (low <= 0.0 <= high)
        p = np.flatnonzero(between)
        if p.size:
            out[:, p] = (self._at_common_rate if self.exact else self._searched)(disparity[p])
        return out

    def _at_common_rate(self, disparity: Array) -> Array:
        """Where all share q and η |λ_j| is κ, or the end of Λ_j."""
        free = self._total(self.peak)
        sign, k = np.sign(free), int(free[0] < 0)
        far, last = self.ends[k][np.abs(self.ends[k]).argmax()], self.reachable[k]

        def path(share: Array, _: Array) -> Array:
            return np.clip(share * far, *self.ends)  # in Λ_j

        return self._root(path, sign * disparity, free, last)

    def _searched(self, disparity: Array) -> Array:
        """From the knapsack's best at both ends of [-d, d], and within."""
        table, (low, high) = self.tradeoffs, self.reachable
        goals = np.stack([disparity, -disparity, disparity])
        is_reachable = (goals >= low) & (goals <= high)
        is_reachable[2] = True
        side, p = np.nonzero(is_reachable)
        goal, has_goal = goals[side, p], side < 2
        ranges = np.stack([np.where(has_goal, goal, -goal), goal], axis=1)
        u = table.polished(self._total, table.split(ranges), goal, has_goal)
        u = u.clip(*self.ends)
        inside = (u > self.ends[0]) & (u < self.ends[1])
        for moved in (inside, np.ones_like(inside)):  # who is at an end stays if others suffice
            missed = np.flatnonzero(has_goal & (np.abs(self._total(u) - goal) > MD_ROUNDING))
            if missed.size:
                u[:, missed] = self.meet(u[:, missed], goal[missed], moved[:, missed])
        md, accuracy = self.at(u)
        accuracy = np.where(np.abs(md) <= disparity[p] + MD_ROUNDING, accuracy, -np.inf)
        order = np.lexsort((accuracy, p))
        return u[:, order[np.searchsorted(p[order], np.arange(disparity.size), "right") - 1]]

    def meet(self, u: Array, goal: Array, moved: Array) -> Array:
        """Coordinates (I, P) with MD = goal (P,), where those ``moved`` go from u (I, P) straight
        towards an end of what is reached: MD is monotone on the way.
        """
        now = self._total(u)
        end = np.where(moved, np.where(now < goal, self.ends[1], self.ends[0]), u)

        def path(share: Array, index: Array) -> Array:
            first, last = u[:, index], end[:, index]
            return np.where(share == 1.0, last, first + share * (last - first))

        return self._root(path, goal, now, self._total(end))

    def _root(self, path: Path, goal: Array, first: Array, last: Array | float) -> Array:
        """Coordinates (I, P) with MD = goal (P,) on paths (share in [0, 1], index), along which MD
        goes from ``first`` to ``last``; else the nearer end.
        """
        zeros, ones, rows = np.zeros(goal.size), np.ones(goal.size), np.arange(goal.size)
        toward = np.where(first <= last, ones, -ones)
        ends = toward * (first - goal), toward * (last - goal)

        def progress(share: Array, index: Array) -> Array:
            return toward[index] * (self._total(path(share, index)) - goal[index])

        return path(increasing_root(progress, zeros, ones, *ends, 1e-15), rows)

    def attained(self, disparities: Sequence[float | None]) -> Points:
        """The best ensembles found with at most the disparities, or the least disparate (None)."""
        return self.points(self.best(np.array([d or 0.0 for d in disparities])))

    def points(self, u: Array) -> Points:
        """What coordinates (I, P) attain; budgets are the local |MD_j|, 1 where they are slack."""
        t, problem = self.thresholds(u), self.problem
        md, accuracy = self.at(u)
        index = np.arange(len(u)).repeat(u.shape[1])
        local = np.abs(problem.mean_difference(t.reshape(2, -1), index)).clip(0.0, 1.0)
        fair = u == self.fair
        eps = np.where(u == 0.0, 1.0, np.where(fair, 0.0, local.reshape(u.shape)))
        disparity = np.where(np.abs(md) <= MD_ROUNDING, 0.0, np.abs(md))
        lam = problem.multipliers(u.ravel(), index).reshape(u.shape)
        return Points(disparity, accuracy, eps.T, lam.T)
