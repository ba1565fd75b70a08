"""LFT+Ensemble over all eps in [0, 1]^I: the smallest disparity, exactly, and the frontier.

Pooled MD and accuracy are sums over clients of functions of one multiplier each, so the frontier is a separable
problem with one coupling constraint: at its optimum all clients trade accuracy for MD at one common rate κ. Where η
and q are common this means λ_j = κ clipped to Λ_j. Otherwise each client's response to κ is read from its own
tabulated trade-off (its concave majorant), and the points so found are evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import optimize

from fairfl.solvers.ensemble import LocalRules
from fairfl.solvers.frontier import Frontier, build
from fairfl.solvers.roots import increasing_root
from fairfl.theory.checks import Array
from fairfl.theory.continuous import ContinuousModel
from fairfl.theory.federation import Federation

MANY = 50
"""With more clients of different q the fair ensemble is sought on a straight line of multipliers, not by tables."""
TABLE = 513
"""Nodes of a client's tabulated trade-off: the error of an accuracy is of order TABLE**-4 where it is concave."""


@dataclass(frozen=True)
class EnsembleCurve:
    """Points of LFT+Ensemble indexed by the common rate κ in [0, top]; the disparity falls as κ rises."""

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
    def sign(self) -> float:
        """Sign of the pooled MD of the most accurate ensemble."""
        free, _ = self.rules.ends
        md = np.array(free)
        if len({pair for pair in self.model.etas}) > 1:  # where η differs, local rules need not be the most accurate
            for k, i in enumerate(self.rules.bound):
                _, difference, accuracy = self._traded(k)
                md[i] = difference[int(accuracy.argmax())]
        return 1.0 if float(self.fed.weight @ md) >= 0 else -1.0

    @cached_property
    def common(self) -> bool:
        """Whether the bound clients share q and η, so that their rules form one family."""
        bound = self.rules.bound
        q = self.fed.share[bound, 1]
        return bool(q.size == 0 or np.ptp(q) == 0) and len({self.model.etas[i] for i in range(self.fed.n_clients)}) == 1

    @cached_property
    def _responses(self) -> tuple[list[tuple[Array, Array]], float]:
        """Each bound client's (κ, share of its interval) table, and the largest κ."""
        tables = [self._table(k) for k in range(self.far.size)]
        return tables, max((t[0][-1] for t in tables), default=0.0) + 1e-9

    @property
    def top(self) -> float:
        """The κ beyond which nothing changes."""
        return float(np.abs(self.far).max(initial=0.0)) if self.common else self._responses[1]

    def multipliers(self, rate: Array) -> Array:
        """λ (J, P) at common rates κ (P,)."""
        if self.common:
            return np.clip(-self.sign * rate, np.minimum(self.far, 0)[:, None], np.maximum(self.far, 0)[:, None])
        shares = np.stack([np.interp(rate, kappa, share) for kappa, share in self._responses[0]])
        return shares * self.far[:, None]

    def _cuts(self, lam: Array) -> tuple[Array, Array]:
        """Thresholds (I, P) of all clients; at the far end of Λ_j the root itself, with its anchor, is used."""
        t0, t1 = [], []
        tight = self.rules.tightest
        for column in lam.T:
            end = column == self.far
            a, b = self.rules.cuts(np.where(end, tight.anchor, 0.0), np.where(end, tight.offset, column))
            t0.append(a)
            t1.append(b)
        return np.stack(t0, axis=1), np.stack(t1, axis=1)

    def at(self, lam: Array) -> tuple[Array, Array]:
        """Pooled MD (P,) and accuracy (P,) at multipliers (J, P)."""
        t0, t1 = self._cuts(lam)
        return (
            self.fed.weight @ self.rules.pooled_difference(t0, t1),
            self.fed.weight @ self.rules.pooled_accuracy(t0, t1),
        )

    def _traded(self, k: int) -> tuple[Array, Array, Array]:
        """Shares of Λ_k, and the pooled MD and accuracy of client k's rule there."""
        share = np.linspace(0.0, 1.0, TABLE)
        problem = self.rules.problem
        index = np.full(TABLE, k)
        end = share == 1.0
        tight = self.rules.tightest
        anchor = np.where(end, tight.anchor[k], 0.0)
        offset = np.where(end, tight.offset[k], share * self.far[k])
        t0, t1 = problem.thresholds(anchor, offset, index)
        return share, self.rules.pooled_difference(t0, t1), self.rules.pooled_accuracy(t0, t1)

    def _table(self, k: int) -> tuple[Array, Array]:
        """Client k's response: κ increasing, and the share of Λ_k it plays; from its concave majorant."""
        share, difference, accuracy = self._traded(k)
        fairness = -self.sign * difference
        if fairness[-1] < fairness[0]:
            fairness, accuracy, share = fairness[::-1], accuracy[::-1], share[::-1]
        step = np.maximum(np.diff(fairness), 1e-300)
        slope = optimize.isotonic_regression(np.diff(accuracy) / step, weights=step, increasing=False).x
        middle = (share[1:] + share[:-1]) / 2
        price = -slope
        first = price >= 0
        if not first.any():
            return np.array([0.0]), share[-1:]
        j = int(first.argmax())
        kappa = np.concatenate([[0.0], price[j:], [1.5 * price[-1] - 0.5 * price[max(j, price.size - 2)]]])
        tau = np.concatenate([[share[j]], middle[j:], [share[-1]]])
        kappa = np.maximum.accumulate(kappa) + 1e-13 * np.arange(kappa.size)  # a jump becomes a steep, attained, ramp
        kappa[0] = 0.0
        return kappa, tau

    def solve_rates(self, disparity: Array) -> Array:
        """κ (P,) with |MD| = disparity."""
        if self.top == 0.0:
            return np.zeros(disparity.size)

        def rising(rate: Array, index: Array) -> Array:
            return disparity[index] - self.sign * self.at(self.multipliers(rate))[0]

        low, high = np.zeros(disparity.size), np.full(disparity.size, self.top)
        f_low, f_high = rising(low, np.arange(low.size)), rising(high, np.arange(low.size))
        return increasing_root(rising, low, high, np.minimum(f_low, 0), np.maximum(f_high, 0), 1e-15)

    def fairest(self) -> Array:
        """λ (J, 1) of the least disparate ensemble; where several reach MD = 0, of an accurate one."""
        if self.far.size == 0:
            return np.zeros((0, 1))
        free, tight = (g[self.rules.bound] for g in self.rules.ends)
        end = np.where(self.sign * (tight - free) < 0, self.far, 0.0)[:, None]
        if self.sign * float(self.at(end)[0][0]) >= 0:
            return end
        if self.common or self.far.size <= MANY:
            return self.multipliers(self.solve_rates(np.zeros(1)))

        def rising(share: Array, index: Array) -> Array:
            return -self.sign * self.at(share * end)[0]

        low, high = np.zeros(1), np.ones(1)
        share = increasing_root(rising, low, high, rising(low, low), rising(high, low), 1e-15)
        return share * end

    def budgets(self, lam: Array) -> Array:
        """eps (P, I) that attain multipliers (J, P): the local |MD_j|, and 1 where the constraint is slack."""
        out = np.ones((lam.shape[1], self.fed.n_clients))
        tight = self.rules.tightest
        for p, column in enumerate(lam.T):
            end = column == self.far
            t0, t1 = self.rules.problem.thresholds(
                np.where(end, tight.anchor, 0.0), np.where(end, tight.offset, column), np.arange(column.size)
            )
            md = self.rules.problem.mean_difference(t0, t1, np.arange(column.size))
            out[p, self.rules.bound] = np.where(column == 0, 1.0, np.where(end, 0.0, np.abs(md)))
        return out


def ensemble_frontier(fed: Federation, model: ContinuousModel, points: int) -> Frontier:
    """LFT+Ensemble's frontier over all eps."""
    curve = EnsembleCurve(fed, model)
    if curve.far.size == 0 or curve.top == 0.0:
        lam = np.zeros((curve.far.size, 1))
        md, accuracy = curve.at(lam)
        return build("lft_ensemble", np.abs(md), accuracy, curve.budgets(lam), _constant(float(accuracy[0])))
    grid = curve.top * np.linspace(0, 1, 4 * points)
    md = curve.sign * curve.at(curve.multipliers(grid))[0]
    ends = max(float(md[-1]), 0.0), float(md[0])
    wanted = np.linspace(ends[0], ends[1], points)
    rates = np.interp(wanted, md[::-1], grid[::-1])  # evenly spread disparities; each point is then evaluated exactly
    rates[-1] = 0.0
    rates[0] = curve.solve_rates(np.zeros(1))[0] if md[-1] < 0 else curve.top
    lam = curve.multipliers(rates)
    found, accuracy = curve.at(lam)
    disparity = np.abs(np.where(np.abs(found) < 1e-15, 0.0, found))

    def evaluate(d: Array) -> Array:
        return curve.at(curve.multipliers(curve.solve_rates(d)))[1]

    return build("lft_ensemble", disparity, accuracy, curve.budgets(lam), evaluate)


def _constant(value: float) -> Callable[[Array], Array]:
    return lambda d: np.full(d.shape, value)
