"""Optimal rules of LFT+FedAvg and their multipliers on a finite X, for every notion and any number
of groups: linear programmes in the one and in the other.

A rule f is optimal for some budgets iff multipliers λ are complementary to it: f is 0 or 1 by the
sign of u + λV, where that is not zero, and V f + b is at its client's budget where λ is not zero.
For given λ the rules and their budgets are a polyhedron, a *face*; its best rule at a disparity is
a linear programme, and what it would gain if a cell or a client were not held its reduced cost. For
a given rule so are the multipliers at which least of that is held, which lead to the next faces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import certified, with_nobody
from fairfl.solvers.frontier import SLACK_BUDGET
from fairfl.solvers.lft_fedavg.finite_vertices import undecided
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.highs import Programme
from fairfl.solvers.problem import Problem, clients_problem, law_problem
from fairfl.solvers.solution import FINITE_TOLERANCE, CertificationError, Solution
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import PROGRAMME_TIED
from fairfl.theory.populations.federation import Federation

LOOK = 4  # cells and constraints that are to be freed one at a time: the dearest


class Place(NamedTuple):
    """The best of a face at some disparity: its rule (N,), budgets (I,), gain and disparity, and
    what it costs to hold cells (N,), and constraints at minus and plus their budgets (2 K,).
    """

    face: Face
    f: Array
    eps: Array
    gain: float
    disparity: float
    cells: Array
    limits: Array

    @property
    def unbeaten(self) -> bool:
        """Whether no rule at all is better, whatever its multipliers."""
        return not (self.cells.any() or self.limits.any())

    def worth(self, disparity: float | None) -> float:
        """Its gain, or where the least disparate is wanted (None) minus its disparity."""
        return -self.disparity if disparity is None else self.gain


@dataclass(frozen=True)
class Faces:
    """The clients' problem ``local`` and the ``pooled`` one with budgets of one, each as a ``box``,
    and the faces that were made, ``by_signs`` of the multipliers.

    Unknowns of the programmes are the cells, the clients' budgets, the pooled levels and the
    disparity; rows are the constraints, above minus and below plus their budgets.
    """

    local: Problem
    pooled: Problem
    by_signs: dict[bytes, Face] = field(default_factory=dict)

    @classmethod
    def of(cls, fed: Federation, task: Task) -> Faces:
        """Of a question to a federation."""
        return cls(clients_problem(fed, task).box, law_problem(fed, task).box)

    @cached_property
    def scale(self) -> Array:
        """(K,) of the clients' budgets in the constraints; 0 where these bind nobody."""
        return np.where(np.isfinite(self.local.eps), self.local.eps, 0.0)

    @cached_property
    def has_budget(self) -> Array:
        """(K,) which constraints a client's budget limits."""
        return self.local.owner >= 0

    @cached_property
    def budgets(self) -> slice:
        """Where the clients' budgets are among the unknowns."""
        n = self.local.u.size
        return slice(n, n + int(self.local.owner.max()) + 1)

    @cached_property
    def last(self) -> int:
        """Where the disparity is."""
        return self.budgets.stop + self.pooled.levels

    @cached_property
    def programme(self) -> tuple[Programme, Array, Array]:
        """Of the unknowns (M,): rows (R, M), and what they are at least (R,)."""
        local, pooled, n = self.local, self.pooled, self.local.u.size
        shared, cells = np.isfinite(pooled.eps) & (pooled.owner >= 0), n - local.levels
        local_rows, wide = np.zeros((2, self.local.owner.size, self.last + 1))
        is_limited = self.scale > 0
        local_rows[is_limited, :n] = local.v[is_limited]
        wide[self.has_budget, n + local.owner[self.has_budget]] = self.scale[self.has_budget]
        fixed = np.where(self.has_budget, 0.0, self.scale)
        pooled_rows, half = np.zeros((2, int(shared.sum()), self.last + 1))
        pooled_rows[:, :cells] = pooled.v[shared, :cells]
        pooled_rows[:, self.budgets.stop : self.last] = pooled.v[shared, cells:]
        half[:, self.last] = pooled.eps[shared]
        left = np.concatenate(
            [local_rows + wide, wide - local_rows, pooled_rows + half, half - pooled_rows]
        )
        b, c = np.where(is_limited, local.b, 0.0), pooled.b[shared]
        return Programme(left), left, np.concatenate([-b - fixed, b - fixed, -c, c])

    @cached_property
    def dual(self) -> tuple[Programme, Array, Array]:
        """The scores' terms (2 K, N) in the multipliers' positive and negative parts, and gains."""
        plus = self.local.v / self.size
        rows = np.concatenate([plus, -plus])
        return Programme(rows), rows, self.local.u / self.size

    @cached_property
    def size(self) -> Array:
        """(N,) of the terms of the cells' scores."""
        size = np.maximum(np.abs(self.local.v).max(axis=0, initial=0.0), np.abs(self.local.u))
        return np.where(size > 0, size, 1.0)

    def face(self, lam: Array, f: Array) -> Face:
        """The face of multipliers (K,), on which the rule f (N,) is."""
        local = self.local
        s = local.scores(lam)
        tied = undecided(local.u, local.v, lam, s) | ((f > 0) & (f < 1))
        accepted = np.where(tied, 0.0, s > 0)
        key = np.concatenate([tied, accepted, np.sign(lam)]).astype(np.int8).tobytes()
        return self.by_signs.setdefault(key, Face(self, tied, accepted, lam))

    def beyond(self, place: Place) -> Iterator[Face]:
        """The faces of a place's rule whose multipliers hold less of what costs something: first in
        all, and then of one cell or constraint after the other.
        """
        f, eps = self.tight(place.f)
        values, budget = self.local.values(f), self.scale * np.append(eps, 1.0)[self.local.owner]
        room = np.where(self.scale > 0, np.stack([budget + values, budget - values]), np.inf)
        accepted, between = f == 1.0, (f > 0.0) & (f < 1.0)
        programme, rows, gain = self.dual
        side, may = np.where(accepted, 1.0, -1.0), room.ravel() <= PROGRAMME_TIED
        below, above = np.where(accepted | between, -np.inf, 0.0), np.where(accepted, 0.0, np.inf)
        weights = np.concatenate([place.cells * self.size, place.limits])
        dearest = np.argsort(-weights, kind="stable")[: min(LOOK, int((weights > 0).sum()))]
        for k in (None, *dearest):
            weight = weights if k is None else (np.arange(weights.size) == k) * 1.0
            cost = rows @ (weight[: f.size] * side) + weight[f.size :]
            # the multipliers are the prices of the dual programme, which has fewer rows
            low = np.where(may, -cost, -np.inf)
            solved = programme.refined(gain, below, above, low, np.full(low.size, np.inf))
            if solved is None:
                return
            lam = np.subtract(*np.split(-solved.y, 2))
            lam[np.abs(lam) <= FINITE_TOLERANCE] = 0.0
            yield self.face(lam, f)

    def tight(self, f: Array) -> tuple[Array, Array]:
        """A rule with its levels in the middle, and the smallest budgets (I,) that it keeps."""
        is_limited, f = self.has_budget & (self.scale > 0), self.local.centred(f)
        eps = np.zeros(int(self.local.owner.max()) + 1)
        values = np.abs(self.local.values(f)[is_limited])
        np.maximum.at(eps, self.local.owner[is_limited], values / self.scale[is_limited])
        return f, eps

    def binding(self, face: Face, eps: Array) -> Array:
        """The budgets (I,) of clients that a face binds, SLACK_BUDGET of others."""
        binds = self.local.owner[(face.lam != 0) & self.has_budget]
        return np.where(np.isin(np.arange(eps.size), binds), eps, SLACK_BUDGET)

    @cached_property
    def free(self) -> Face:
        """All rules, whatever their multipliers: CFL's."""
        none = np.zeros(self.local.u.size)
        return Face(self, none == 0.0, none, np.zeros(self.local.owner.size))

    def solution(self, fed: Federation, task: Task, face: Face, disparity: float) -> Solution:
        """A face's best rule with at most a disparity as a solution, or CertificationError."""
        place = face.place(disparity, refine=True)
        if place is None:
            raise CertificationError("no rule at the multipliers has the disparity")
        problem, eps = clients_problem(fed, task), self.binding(face, place.eps)
        certificates = (certified(self.local.at(eps), place.f, face.lam),)
        f, lam = problem.of_box(place.f, face.lam)
        rule = problem.rule(with_nobody(problem, f, lam), fed.n_groups)
        return Solution(fed, task, eps, rule, lam, certificates)


@dataclass(frozen=True, eq=False)
class Face:
    """Cells (N,) that are ``tied``, what the ``rest`` are, and some multipliers ``lam`` (K,);
    ``lines`` above its gains: a disparity, the gain there, and a slope.
    """

    among: Faces
    tied: Array
    rest: Array
    lam: Array
    lines: list[tuple[float, float, float]] = field(default_factory=list)

    @cached_property
    def fairest(self) -> Place | None:
        """Its least disparate rule."""
        return self.place(None)

    def bound_at(self, disparity: float) -> float:
        """What the gain with at most ``disparity`` is at most, for all that is known."""
        above = (gain + slope * (disparity - at) for at, gain, slope in self.lines)
        return min(above, default=np.inf)

    def reaches(self, disparity: float) -> bool:
        """Whether it has a rule with at most ``disparity``."""
        if any(at <= disparity for at, _, _ in self.lines):
            return True
        return self.fairest is not None and self.fairest.disparity <= disparity + PROGRAMME_TIED

    def place(self, disparity: float | None, *, refine: bool = False) -> Place | None:
        """The most useful rule with at most ``disparity``, or the least disparate (None), to 1e-10,
        with ``refine`` to rounding; None where there is none.
        """
        faces, n, last = self.among, self.tied.size, self.among.last
        programme, rows, low = faces.programme
        is_equal = np.concatenate([self.lam > 0, self.lam < 0])
        below, above, gain = np.zeros(last + 1), np.ones(last + 1), np.zeros(last + 1)
        below[:n], above[:n] = self.rest, self.rest + self.tied
        if disparity is None:
            gain[last] = -1.0
        else:
            gain[:n], above[last] = faces.local.u, disparity
        high = np.full(low.size, np.inf)
        high[: is_equal.size][is_equal] = low[: is_equal.size][is_equal]
        solve = programme.refined if refine else programme.best
        optimum = solve(gain, below, above, low, high)
        if optimum is None:
            return None
        x, prices = optimum.x, gain - optimum.y @ rows
        f = highs.rounded(x[:n])
        worth, eps = float(faces.local.u @ f), x[faces.budgets]
        if disparity is not None:
            self.lines.append((disparity, worth, max(float(prices[last]), 0.0)))
        cells = np.where(self.tied, 0.0, np.where(self.rest > 0, -prices[:n], prices[:n]))
        clients = np.where(is_equal, optimum.y[: is_equal.size], 0.0)
        eps = np.clip(np.where(eps <= FINITE_TOLERANCE, 0.0, eps), 0.0, SLACK_BUDGET)
        costs = (np.where(cost > PROGRAMME_TIED, cost, 0.0) for cost in (cells, clients))
        return Place(self, f, eps, worth, float(x[last]), *costs)
