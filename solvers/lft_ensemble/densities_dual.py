"""Ensembles on densities for every notion of one rate, and all costs, as a function of the clients'
multipliers: accept sets in place of thresholds.

A client's own problem has one constraint: its rule is ⟦u_i + λ_i v_i > 0⟧. In group 0 the accept
set grows in λ_i, in group 1 it shrinks, so that the pooled difference of rates is monotone along
each client's interval, as ``EnsembleCurve`` needs it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve, Multipliers
from fairfl.solvers.numerics.accept_sets import AcceptSets
from fairfl.solvers.numerics.density_problem import DensityProblem
from fairfl.solvers.numerics.descent import minimise_dual
from fairfl.solvers.numerics.dual import dual_point
from fairfl.solvers.problem import Task
from fairfl.theory.numerics.piecewise import Piecewise
from fairfl.theory.populations.federation import Federation


@dataclass(frozen=True)
class DualRules:
    """The clients' own rules, two groups and one rate without a constant."""

    fed: Federation
    task: Task

    @cached_property
    def _own(self) -> list[DensityProblem]:
        """Each client's problem without a budget, in units of the largest cost."""
        one, zero = replace(self.task, scheme="cfl"), np.zeros(1)
        clients = range(self.fed.n_clients)
        return [DensityProblem.of(one, self.fed.alone(i).model, zero) for i in clients]  # type: ignore[arg-type]

    @cached_property
    def bound(self) -> Array:
        """Positions of the clients in which both groups have the event."""
        return np.flatnonzero([np.isfinite(own.eps[0]) for own in self._own])

    @cached_property
    def tightest(self) -> Array:
        """(J,) multipliers of the bound clients' fair rules."""
        return np.array(
            [minimise_dual(self._own[i].constraints, np.zeros(1)).lam[0, 0] for i in self.bound]
        )

    @cached_property
    def _pooled(self) -> tuple[float, float, list[Piecewise]]:
        """1 + the utility and the difference of f = 0, and the gain and the difference's function
        at each place.
        """
        one = replace(self.task, scheme="cfl")
        whole = DensityProblem.of(one, self.fed.model, np.zeros(1)).constraints  # type: ignore[arg-type]
        functions = []
        for profile, rows in zip(whole.profiles, whole.coefficients, strict=True):
            both = np.zeros((2, 1 + rows.shape[1]))
            both[0, 0], both[1, 1:] = 1.0, rows[0]
            functions.append(replace(profile, coefficients=profile.combined(both)))
        return whole.base, float(whole.b[0]), functions

    def at(self, client: int, lam: Array) -> tuple[Array, Array, Array]:
        """The client's own difference, the pooled one, and 1 + the pooled utility, (N,) each, of
        its rules at multipliers lam (N,).
        """
        own = self._own[client].constraints
        point = dual_point(own, lam[:, None])
        base, constant, functions = self._pooled
        parts = np.sum([over(*each) for each in zip(point.sets, functions, strict=True)], axis=0)
        worth = base + parts[:, 0]
        return point.values[:, 0], constant + parts[:, 1], 1.0 + self.unit * (worth - 1.0)

    @property
    def unit(self) -> float:
        """The largest cost."""
        return float(self.task.costs.max())

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """(I, 2) the pooled difference, and 1 + the utility, without a budget and at a budget of
        0.
        """
        tight = np.zeros(self.fed.n_clients)
        tight[self.bound] = self.tightest
        found = [self.at(i, np.array([0.0, lam]))[1:] for i, lam in enumerate(tight)]
        return np.stack([md for md, _ in found]), np.stack([worth for _, worth in found])

    @property
    def ends(self) -> tuple[Array, Array]:
        """(I,) the pooled difference without a budget, and at a budget of 0."""
        return self._ends[0][:, 0], self._ends[0][:, 1]

    @property
    def free(self) -> tuple[Array, Array]:
        """(I,) the pooled difference and 1 + the pooled utility without a budget."""
        return self._ends[0][:, 0], self._ends[1][:, 0]

    @cached_property
    def reachable(self) -> tuple[float, float]:
        """The interval of the pooled difference over all budgets."""
        low, high = np.minimum(*self.ends), np.maximum(*self.ends)
        return float(self.fed.weight @ low), float(self.fed.weight @ high)


def over(sets: AcceptSets, functions: Piecewise) -> Array:
    """(B, J) integrals of the functions over each of the sets."""
    out = sets.first[:, None] * functions.totals
    np.add.at(
        out, sets.owner, np.where(sets.rising, 1.0, -1.0)[:, None] * functions.above(sets.cut).T
    )
    return out


@dataclass(frozen=True)
class DualCurve(EnsembleCurve):
    """The ensembles of a task; a client's coordinate u is |λ_i|."""

    task: Task

    @cached_property
    def rules(self) -> DualRules:  # type: ignore[override]
        """The clients' own rules."""
        return DualRules(self.fed, self.task)

    @cached_property
    def far(self) -> Array:
        """(J,) multipliers of the bound clients at budgets of 0."""
        return self.rules.tightest

    @cached_property
    def common(self) -> bool:
        """Whether one rate for all is optimal: nobody is bound."""
        return self.rules.bound.size == 0

    @cached_property
    def reach(self) -> Array:
        """(J,) the coordinates of the clients' fair rules."""
        return np.abs(self.far)

    def multipliers(self, u: Array) -> Multipliers:
        """λ_j at coordinates u (J, P)."""
        return Multipliers(np.zeros(u.shape), np.sign(self.far)[:, None] * u)

    def own(self, u: Array) -> tuple[Array, Array]:
        """The pooled difference and 1 + the utility (J, N) of each client's rule."""
        lam = self.multipliers(u).value
        found = [self.rules.at(i, row)[1:] for i, row in zip(self.rules.bound, lam, strict=True)]
        md, worth = (np.reshape(v, u.shape) for v in zip(*found, strict=True))
        return md, worth

    def at(self, lam: Multipliers) -> tuple[Array, Array]:
        """The pooled difference (P,) and 1 + the utility (P,) at multipliers (J, P)."""
        bound = self.rules.bound
        weight = self.fed.weight.copy()
        weight[bound] = 0.0
        md, worth = (np.full(lam.offset.shape[1], weight @ v) for v in self.rules.free)
        if bound.size:
            own = self.own(np.abs(lam.value))
            md, worth = (
                v + self.fed.weight[bound] @ w for v, w in zip((md, worth), own, strict=True)
            )
        return md, worth

    def all_multipliers(self, lam: Multipliers) -> Array:
        """λ (P, I) of all clients, 0 for those that no constraint binds."""
        return self.rules.unit * super().all_multipliers(lam)

    def budgets(self, lam: Multipliers) -> Array:
        """eps (P, I) that attain multipliers (J, P): the clients' own differences, 0 at the ends,
        and 1 where the constraint is slack.
        """
        out = np.ones((lam.offset.shape[1], self.fed.n_clients))
        for j, i in enumerate(self.rules.bound):
            own = np.abs(self.rules.at(i, lam.value[j])[0]).clip(0.0, 1.0)
            own[lam.value[j] == self.far[j]] = 0.0
            out[:, i] = np.where(lam.value[j] == 0.0, 1.0, own)
        return out
