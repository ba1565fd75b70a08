"""LFT+FedAvg over all budgets on a finite X, for every notion and any number of groups: a search by
linear programmes in the rule and in the multipliers by turns.

A rule f is optimal for some budgets iff multipliers λ are complementary to it: f is 0 or 1 by the
sign of u + λV, where that is not zero, and V f + b is at its client's budget where λ is not zero.
For given λ the rules and their budgets are a polyhedron, a *face*, and the most useful of them with
at most a given pooled disparity is a linear programme; what it would gain if a cell or a client
were not held is its reduced cost. For a given rule the multipliers are a polyhedron too: those at
which what is held at such a cost is least in the way are the next face. A climb ends where no
multipliers of its rule free anything: the rule is then a local optimum, and the frontier is
searched for and not proven. CFL's frontier bounds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.frontier import SLACK_BUDGET, Frontier, Points, build, fitting, points_of
from fairfl.solvers.lft_fedavg.finite import solve_fedavg_finite
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.box_lp import ROWS, solve_box
from fairfl.solvers.numerics.vertices import undecided
from fairfl.solvers.problem import Problem, Task, clients_problem, law_problem
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS

STARTS = 60
"""Budgets that the search starts from: in the first few clients are bound, in the last all, by
turns to next to 0.
"""
NEARLY = 1e-4
"""The smallest budget used in place of 0, where the linear programme is degenerate."""
MARGIN = 0.01
"""Tight budgets are drawn up to the disparities of the most useful rule, and this more."""
CLIMBS = 3
"""Faces that climbs start from at each disparity: those that are best there."""
LOOK = 50
"""Cells and clients that a climb tries to free one at a time, the dearest first."""
RISE = 1e-11
"""What rises by less has not risen."""
COSTS = 1e-9
"""What is held costs something from this reduced cost on."""
TIED = 1e-9
"""A linear programme's own rounding, in shares of a score's terms or of a budget."""
NEAR = 1e-11
"""Disparities are asked for with this much room: HiGHS' own rounding."""
FAIR = 1e-12
"""Budgets up to this are zero."""


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


@dataclass(frozen=True, eq=False)
class Face:
    """Cells (N,) that are ``tied``, and what the ``rest`` are; the ``sign`` (K,) of the
    multipliers. ``lines`` are above its gains: disparity, gain and slope.
    """

    search: FaceSearch
    tied: Array
    rest: Array
    sign: Array
    lines: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def slack(self) -> Array:
        """(I,) whose budgets bind nobody."""
        return ~np.isin(np.arange(self.search.fed.n_clients), self.search.client[self.sign != 0])

    def most(self, disparity: float) -> float:
        """An upper bound on its gain with at most ``disparity``."""
        return min((g + slope * (disparity - d) for d, g, slope in self.lines), default=np.inf)

    def place(self, disparity: float | None) -> Place | None:
        """The most useful rule with at most ``disparity``, or the least disparate (None); None
        where there is none.
        """
        s, n = self.search, self.tied.size
        held = np.concatenate([self.sign > 0, self.sign < 0])
        limits = slice(s.last + 1, s.last + 1 + held.size)
        low, high, cost = np.zeros(s.size), np.full(s.size, np.inf), np.zeros(s.size)
        low[:n], high[:n] = self.rest, self.rest + self.tied
        high[n : s.last + 1] = 1.0
        high[limits][held] = 0.0
        if disparity is None:
            cost[s.last] = 1.0
        else:
            cost[:n], high[s.last] = -s.local.u, disparity
        free, x = high > low, low
        found = scipy.optimize.linprog(
            cost[free],
            A_eq=s.rows[:, free],
            b_eq=s.target - s.rows @ low,
            bounds=np.stack([low, high], axis=1)[free],
            method="highs",
            options=highs.OPTIONS,
        )
        if not found.success:
            return None
        x[free] = found.x
        reduced = cost - found.eqlin.marginals @ s.rows
        f, _ = highs.rounded(x[:n])
        gain = float(s.local.u @ f)
        if disparity is not None:
            self.lines.append((disparity, gain, max(-float(reduced[s.last]), 0.0)))
        held_at = np.where(self.tied, 0.0, np.where(self.rest > 0, reduced[:n], -reduced[:n]))
        bound = np.where(held, -reduced[limits], 0.0)
        return Place(
            self,
            f,
            np.clip(np.where(x[s.budgets] <= FAIR, 0.0, x[s.budgets]), 0.0, SLACK_BUDGET),
            gain,
            float(x[s.last]),
            np.where(held_at > COSTS, held_at, 0.0),
            np.where(bound > COSTS, bound, 0.0),
        )

    @cached_property
    def least(self) -> Place | None:
        """Its least disparate rule."""
        return self.place(None)


@dataclass
class FaceSearch:
    """The clients' problem ``local`` with budgets of one, the ``client`` (K,) of each constraint,
    the ``pooled`` problem with a budget of one, and the faces that were found.

    Unknowns of the faces' programmes are the cells, the budgets (I,), the pooled levels, the
    disparity, which is the ``last`` of these, and what the constraints, the clients' and then
    everybody's, are above minus and below plus their budgets; ``rows`` x = ``target``.
    """

    fed: Federation
    model: FiniteModel
    task: Task
    local: Problem
    client: Array
    pooled: Problem
    faces: dict[bytes, Face] = field(default_factory=dict)

    def __post_init__(self) -> None:
        local, pooled, clients = self.local, self.pooled, self.fed.n_clients
        known, shared = np.isfinite(local.eps), np.isfinite(pooled.eps)
        n = local.u.size
        cells = n - local.levels
        free = pooled.levels
        self.last = n + clients + free
        self.scale = np.where(known, local.eps, 0.0)
        budget = self.scale[:, None] * (self.client[:, None] == np.arange(clients))
        own = np.concatenate([local.v, 0.0 * budget, np.zeros((len(known), free + 1))], axis=1)
        wide = np.pad(budget, ((0, 0), (n, free + 1)))
        everybody = np.zeros((int(shared.sum()), self.last + 1))
        everybody[:, :cells] = pooled.v[shared, :cells]
        everybody[:, n + clients : self.last] = pooled.v[shared, cells:]
        half = np.zeros_like(everybody)
        half[:, -1] = pooled.eps[shared]
        left = np.concatenate([own + wide, wide - own, everybody + half, half - everybody])
        b, c = local.b, pooled.b[shared]
        self.rows = ROWS * np.concatenate([left, -np.eye(len(left))], axis=1)
        self.rows = scipy.sparse.csc_array(self.rows)
        self.target = ROWS * np.concatenate([-b, b, -c, c])
        self.size = self.rows.shape[1]
        self.budgets = slice(n, n + clients)

    @classmethod
    def of(cls, fed: Federation, model: FiniteModel, task: Task) -> FaceSearch:
        """Solve the budgets to start from, clients in an order of their own."""
        law, one = model.pooled(fed.mass), np.ones(fed.n_clients)
        local = clients_problem(task, law, model.joint(fed.mass), one)
        rates = len(NOTIONS[task.notion])
        client = np.tile(np.repeat(np.arange(one.size), local.eps.size // rates // one.size), rates)
        search = cls(fed, model, task, local, client, law_problem(task, law, one[:1]))
        rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
        free = np.nan_to_num(search.ends[0].local_disparities) + MARGIN
        tight = rng.random((STARTS, one.size)) < np.linspace(0.0, 1.0, STARTS)[:, None]
        scale = np.where(np.arange(STARTS) % 2, 1.0, NEARLY)[:, None]
        drawn = np.where(tight, scale * rng.random(tight.shape), np.inf)
        drawn[:, np.lexsort((fed.weight, free))] = drawn.copy()
        for eps in (0.0 * one, one, *np.minimum(drawn * free, SLACK_BUDGET)):
            with suppress(CertificationError):
                budgets = np.where(np.isfinite(local.eps), search.scale * eps[client], np.inf)
                found = solve_box(replace(local, eps=budgets), settle=False)
                search.face(found.multipliers, found.f)
        return search

    @cached_property
    def ends(self) -> list[Any]:
        """The solutions without budgets and with all of them zero."""
        return [self.solved(np.full(self.fed.n_clients, eps)) for eps in (SLACK_BUDGET, 0.0)]

    def solved(self, eps: Array) -> Any:
        """The certified solution at budgets (I,)."""
        return solve_fedavg_finite(self.fed, self.model, self.task, eps)

    def face(self, lam: Array, f: Array) -> Face:
        """The face of multipliers (K,), on which the rule f (N,) is."""
        local = self.local
        s = local.scores(lam)
        tied = undecided(local.u, local.v, lam, s) | ((f > 0) & (f < 1))
        rest = np.where(tied, 0.0, s > 0)
        key = np.concatenate([tied, rest, np.sign(lam)]).astype(np.int8).tobytes()
        return self.faces.setdefault(key, Face(self, tied, rest, np.sign(lam)))

    def _tight(self, f: Array) -> tuple[Array, Array]:
        """A rule with its levels in the middle, and how far (2, K) its constraints are above minus
        and below plus the smallest budgets that it keeps.
        """
        local, known = self.local, self.scale > 0
        f = f.copy()
        f[f.size - local.levels :] = 0.0
        values = local.values(f)
        for level in range(-local.levels, 0):
            some = known & (local.v[:, level] != 0)
            f[level] = (values[some].max(initial=0.0) + values[some].min(initial=1.0)) / 2.0
        values = local.values(f)
        eps = np.zeros(self.fed.n_clients)
        np.maximum.at(eps, self.client[known], np.abs(values[known]) / self.scale[known])
        budget = self.scale * eps[self.client]
        room = np.stack([budget + values, budget - values])
        return f, np.where(known, room, np.inf)

    def _beyond(self, here: Place) -> Iterator[Face]:
        """The faces of other multipliers of a place's rule, at which less of what costs something
        is held: in all, and then one cell or constraint after the other.
        """
        local = self.local
        f, room = self._tight(here.f)
        size = np.maximum(np.abs(local.v).max(axis=0, initial=0.0), np.abs(local.u))
        size[size == 0] = 1.0
        rows, gain = (local.v / size).T, local.u / size
        rows = np.concatenate([rows, -rows], axis=1)
        one, zero = f == 1.0, f == 0.0
        side = np.where(one, 1.0, -1.0)
        between = ~(one | zero)
        high = np.where(room.ravel() <= TIED, np.inf, 0.0)
        weights = np.concatenate([here.cells * size, here.limits])
        single = np.eye(weights.size)[np.argsort(-weights, kind="stable")[:LOOK]]
        k = high.size // 2
        for weight in (weights, *single[weights[single.argmax(axis=1)] > 0]):
            found = scipy.optimize.linprog(
                (weight[: f.size] * side) @ rows + weight[f.size :],
                A_ub=-(side[:, None] * rows)[~between],
                b_ub=(side * gain)[~between],
                A_eq=rows[between],
                b_eq=-gain[between],
                bounds=np.stack([np.zeros_like(high), high], axis=1),
                method="highs",
                options=highs.OPTIONS,
            )
            if not found.success:
                return
            lam = found.x[:k] - found.x[k:]
            lam[np.abs(lam) <= FAIR] = 0.0
            tied = np.abs(gain + rows[:, :k] @ lam) <= TIED * (np.abs(gain) + np.abs(rows[:, :k]) @ np.abs(lam))
            lam = highs.solve_again(lam, np.flatnonzero(lam), rows[tied, :k], -gain[tied], rounds=3, rcond=1e-13)
            yield self.face(lam, f)

    def climb(self, here: Place, disparity: float | None) -> Place:
        """The best place that steps from face to face reach."""

        def worth(place: Place) -> float:
            return -place.disparity if disparity is None else place.gain

        while True:
            tried = {here.face}
            for face in self._beyond(here):
                there = None if face in tried else face.place(disparity)
                tried.add(face)
                if there is not None and worth(there) > worth(here) + RISE:
                    here = there
                    break
            else:
                return here

    def best(self, disparity: float) -> Place | None:
        """The most useful place with at most ``disparity`` that climbs from the best faces find."""
        top: list[Place] = []
        for face in sorted(self.faces.values(), key=lambda face: -face.most(disparity)):
            if len(top) == CLIMBS and face.most(disparity) <= top[-1].gain:
                break
            fits = face.least is not None and face.least.disparity <= disparity
            here = face.place(disparity) if fits else None
            if here is not None:
                top = sorted([*top, here], key=lambda place: -place.gain)[:CLIMBS]
            if top and top[0].unbeaten:
                return top[0]
        return max((self.climb(p, disparity) for p in top), key=lambda p: p.gain, default=None)

    def lowest(self) -> Place:
        """The least disparate place that climbs reach."""
        known = [face.least for face in self.faces.values() if face.least is not None]
        top = sorted(known, key=lambda p: p.disparity)[:CLIMBS]
        return min((self.climb(p, None) for p in top), key=lambda p: p.disparity)

    def attained(self, places: Iterable[Place | None]) -> Points:
        """What the places' budgets attain, solved again and certified; those that are not certified
        are left out.
        """
        found = []
        for place in places:
            if place is not None:
                with suppress(CertificationError):
                    eps = np.where(place.face.slack, SLACK_BUDGET, place.eps)
                    found.append(self.solved(eps))
        return points_of(self.fed, found)

    def frontier(self, points: int) -> Frontier:
        """Up to ``points`` of it, at even steps from the smallest disparity to that of the most
        useful rule.
        """
        low = self.lowest()
        targets = NEAR + np.linspace(
            low.disparity, max(low.disparity, self.ends[0].disparity), points
        )
        # down and up again: what was found at one disparity is known at the others
        places = [self.best(float(d)) for d in (*targets[::-1], *targets)]
        found = self.attained([low, *places]).join(points_of(self.fed, self.ends))

        def evaluate(disparity: Array) -> Points:
            tried = self.attained([self.best(float(d) + NEAR) for d in disparity])
            return fitting(tried.join(found), disparity)

        return build("lft_fedavg", found, evaluate)

    def minimum(self) -> Points:
        """The least disparate place, of several the most useful."""
        low = self.lowest()
        found = self.attained([low, self.best(low.disparity + NEAR)])
        return found.join(points_of(self.fed, self.ends)).least
