"""Ensembles on densities as points of a box: a coordinate for each client's multiplier.

Pooled MD and accuracy are sums over clients of functions of one multiplier each, so the frontier is
a separable problem with one coupling constraint: at its optimum all clients trade accuracy for MD
at one common rate κ. Where η and q are common this means λ_j = κ clipped to Λ_j, exactly. Otherwise
``densities_polish`` finds the coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.threshold import solve_thresholds
from fairfl.solvers.lft_ensemble.densities import LocalRules
from fairfl.solvers.lft_ensemble.densities_tradeoff import Tradeoffs, spread_nodes
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation

FARTHEST = 360.0
"""Coordinate u beyond which m - |λ| = 2m/(exp(2u) + 1) is no normal double."""


class Multipliers(NamedTuple):
    """λ = anchor + offset, each (J, P): as in ``threshold``, so that λ next to ±M_a keeps its
    digits.
    """

    anchor: Array
    offset: Array

    @property
    def value(self) -> Array:
        """λ (J, P)."""
        return self.anchor + self.offset


@dataclass(frozen=True)
class EnsembleCurve:
    """Points of LFT+Ensemble by their clients' multipliers.

    Along its interval of multipliers a client is given by u >= 0 with |λ_j| = m_j tanh u, m_j its
    smaller mass: the thresholds of a logistic η then move evenly with u, however near to ±m_j its
    fair rule lies.
    """

    fed: Federation
    model: ContinuousModel

    @cached_property
    def rules(self) -> LocalRules:
        """The clients' local rules."""
        return LocalRules(self.fed, self.model)

    @cached_property
    def far(self) -> Array:
        """(J,) multipliers of the bound clients at eps = 0."""
        return self.rules.tightest.multiplier

    @cached_property
    def common(self) -> bool:
        """Whether the bound clients share the pooled q and η: their rules are one family, with a
        concave trade-off. A fair rule within a rounding of ±m_j is left to the general search: one
        multiplier for all cannot tell it from its neighbours.
        """
        if self.rules.bound.size == 0:
            return True
        if self.rules.tightest.anchor.any():
            return False
        q = self.fed.share[self.rules.bound, 1]
        return (
            bool((np.abs(q - self.fed.group_mass[1]) <= 1e-15).all())
            and len(set(self.model.etas)) == 1
        )

    @cached_property
    def sign(self) -> float:
        """Sign of the pooled MD of the most accurate ensemble."""
        md = self.rules.ends[0]
        # where η differs, local rules need not be the most accurate
        if len(set(self.model.etas)) > 1:
            _, difference, accuracy = self._traded
            md = md.copy()
            md[self.rules.bound] = difference[np.arange(accuracy.shape[0]), accuracy.argmax(axis=1)]
        return 1.0 if float(self.fed.weight @ md) >= 0 else -1.0

    @cached_property
    def reach(self) -> Array:
        """(J,) the coordinates u_j of the clients' own fair rules."""
        tight = self.rules.tightest
        m = self._narrow
        inside = np.abs(tight.anchor) == m  # elsewhere m - |λ| is exact enough
        left = np.where(inside, np.abs(tight.offset), m - np.abs(tight.multiplier))
        return np.minimum(
            0.5 * np.log1p(2 * np.abs(tight.multiplier) / np.maximum(left, 1e-300)), FARTHEST
        )

    @cached_property
    def _narrow(self) -> Array:
        """(J,) the smaller of the clients' two masses."""
        return self.fed.share[self.rules.bound].min(axis=1)

    def multipliers(self, u: Array) -> Multipliers:
        """λ_j at coordinates u (J, P) in [0, reach_j]; the end is the client's fair rule itself."""
        m, side, reach = (v[:, None] for v in (self._narrow, np.sign(self.far), self.reach))
        tight = self.rules.tightest
        near, end = u < 1.0, u >= reach
        # λ = m tanh u: near ±m as anchor and offset, which keeps the digits of m - |λ|
        with np.errstate(over="ignore"):
            offset = np.where(near, m * np.tanh(u), -2 * m / (np.exp(2 * u) + 1))
        return Multipliers(
            np.where(end, tight.anchor[:, None], np.where(near, 0.0, side * m)),
            np.where(end, tight.offset[:, None], side * offset),
        )

    def _thresholds(self, lam: Multipliers) -> tuple[Array, Array]:
        """Thresholds (J, P) of the bound clients."""
        index = np.repeat(np.arange(self.far.size), lam.offset.shape[1])
        own = self.rules.problem.thresholds(lam.anchor.ravel(), lam.offset.ravel(), index)
        return own[0].reshape(lam.offset.shape), own[1].reshape(lam.offset.shape)

    @cached_property
    def _traded(self) -> tuple[Array, Array, Array]:
        """Coordinates u (J, N), and the pooled MD and accuracy (J, N) of client j's rules there."""
        return spread_nodes(self.own, self.reach)

    def own(self, u: Array) -> tuple[Array, Array]:
        """The pooled MD and accuracy (J, N) of each client's rule at coordinates u (J, N)."""
        t0, t1 = self._thresholds(self.multipliers(u))
        return self.rules.pooled(t0, t1)

    @cached_property
    def tradeoffs(self) -> Tradeoffs:
        """What each bound client gives in accuracy for fairness."""
        u, difference, accuracy = self._traded
        return Tradeoffs(u, -self.sign * difference, accuracy, self.fed.weight[self.rules.bound])

    def _cuts(self, lam: Multipliers) -> tuple[Array, Array]:
        """Thresholds (I, P) of all clients."""
        count = lam.offset.shape[1]
        t0, t1 = (np.repeat(t[:, None], count, axis=1) for t in self.rules.free_cuts)
        if self.far.size:
            t0[self.rules.bound], t1[self.rules.bound] = self._thresholds(lam)
        return t0, t1

    def difference(self, lam: Multipliers) -> Array:
        """Pooled MD (P,) at multipliers (J, P)."""
        return self.at(lam)[0]

    def at(self, lam: Multipliers) -> tuple[Array, Array]:
        """Pooled MD (P,) and accuracy (P,) at multipliers (J, P)."""
        md, accuracy = self.rules.pooled(*self._cuts(lam))
        return self.fed.weight @ md, self.fed.weight @ accuracy

    def at_common_rate(self, disparity: Array) -> Multipliers:
        """λ (J, P) with |MD| = disparity (P,) where all share q and η: |λ_j| is κ, or the end of
        Λ_j.
        """
        m, top = self._narrow[:, None], float(np.abs(self.far).max(initial=0.0))
        reach = np.where(self.sign * self.far < 0, self.reach, 0.0)[:, None]

        def at(rate: Array) -> Multipliers:
            with np.errstate(divide="ignore"):
                return self.multipliers(np.minimum(np.arctanh(np.minimum(rate / m, 1.0)), reach))

        def rising(rate: Array, index: Array) -> Array:
            return disparity[index] - self.sign * self.difference(at(rate))

        low, high = np.zeros(disparity.size), np.full(disparity.size, top)
        if top == 0.0:
            return at(low)
        f_low, f_high = rising(low, np.arange(low.size)), rising(high, np.arange(low.size))
        ends = np.minimum(f_low, 0), np.maximum(f_high, 0)
        return at(increasing_root(rising, low, high, *ends, 1e-15))

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """Coordinates u (J,) of the clients' rules with the smallest and with the largest
        sign·MD.
        """
        free, tight = (self.sign * g[self.rules.bound] for g in self.rules.ends)
        return np.where(tight < free, self.reach, 0.0), np.where(tight > free, self.reach, 0.0)

    @cached_property
    def lowest(self) -> float:
        """The smallest sign·MD."""
        return self.sign * float(self.difference(self.multipliers(self.ends[0][:, None]))[0])

    def meet(self, u: Array, goal: Array) -> Array:
        """Coordinates (J, P) with sign·MD = goal (P,), moved from u (J, P) straight towards an end
        of what is reached.

        Each client's MD is monotone along its interval, and so MD is on the way to an end.
        """
        far = self.sign * self.difference(self.multipliers(u)) < goal
        low, high = (end[:, None] for end in self.ends)
        end = np.where(far, high, low)
        toward = np.where(far, 1.0, -1.0)

        def rising(share: Array, index: Array) -> Array:
            at = u[:, index] + share * (end[:, index] - u[:, index])
            at = np.where(share == 1.0, end[:, index], at)
            return toward[index] * (self.sign * self.difference(self.multipliers(at)) - goal[index])

        zero, one, all_ = np.zeros(goal.size), np.ones(goal.size), np.arange(goal.size)
        f_low, f_high = np.minimum(rising(zero, all_), 0.0), np.maximum(rising(one, all_), 0.0)
        share = increasing_root(rising, zero, one, f_low, f_high, 1e-15)
        return np.where(share == 1.0, end, u + share * (end - u))

    def all_multipliers(self, lam: Multipliers) -> Array:
        """λ (P, I) of all clients, 0 for those that no constraint binds."""
        out = np.zeros((lam.offset.shape[1], self.fed.n_clients))
        out[:, self.rules.bound] = lam.value.T
        return out

    def budgets(self, lam: Multipliers) -> Array:
        """eps (P, I) that attain multipliers (J, P): the local |MD_j|, 0 at the client's fair rule,
        and 1 where the constraint is slack.
        """
        out = np.ones((lam.offset.shape[1], self.fed.n_clients))
        tight, index = self.rules.tightest, np.arange(self.far.size).repeat(len(out))
        t0, t1 = (t.ravel() for t in self._thresholds(lam))
        md = np.abs(self.rules.problem.mean_difference(t0, t1, index)).clip(0.0, 1.0)
        end = (lam.anchor == tight.anchor[:, None]) & (lam.offset == tight.offset[:, None])
        own = np.where(lam.value == 0, 1.0, np.where(end, 0.0, md.reshape(end.shape)))
        out[:, self.rules.bound] = own.T
        return out

    def solved(self, eps: Array) -> tuple[Array, Array]:
        """Pooled MD (P,) and accuracy (P,) of the solutions at budgets (P, I)."""
        if not self.far.size:
            return self.at(Multipliers(*np.zeros((2, 0, len(eps)))))
        index = np.repeat(np.arange(self.far.size), len(eps))
        found = solve_thresholds(self.rules.problem, eps[:, self.rules.bound].T.ravel(), index)
        own = (v.reshape(-1, len(eps)) for v in (found.anchor, found.offset))
        return self.at(Multipliers(*own))
