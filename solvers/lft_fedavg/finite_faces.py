"""LFT+FedAvg over all budgets on a finite X, for every notion and any number of groups: a search
from face to face by linear programmes.

Multipliers λ that are optimal for some budgets are optimal for every pair of a rule and budgets
that is complementary to them: f is 0 or 1 by the sign of u + λV, where that is not zero, and
V f + b is at its client's budget where λ is not zero. In (f, eps) this is a polyhedron, a *face*.
The most useful rule on it with at most a given pooled disparity is a linear programme, also where
the disparity is a largest difference. Bounds of the face that cost something are left out one at a
time: on the way to the optimum without one lie the next faces. A climb ends where none of them is
better, so that the frontier is searched for and not proven. CFL's frontier bounds it.
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
STEPS = (1e-4, 0.1, 1.0)
"""Shares of the way to the optimum without a bound at which the next face is looked for."""
RISE = 1e-11
"""What rises by less has not risen."""
COSTS = 1e-9
"""A bound costs something from this reduced cost on."""
NEAR = 1e-11
"""Disparities are asked for with this much room: HiGHS' own rounding."""
FAIR = 1e-12
"""Budgets up to this are zero."""


class Place(NamedTuple):
    """The best of a face at some disparity: its budgets (I,), gain and disparity, and the bounds
    that cost something, the dearest first.
    """

    face: Face
    eps: Array
    gain: float
    disparity: float
    walls: Array


@dataclass(frozen=True, eq=False)
class Face:
    """A polyhedron of optimal rules and their budgets. Unknowns are the ``tied`` cells, the budgets
    (I,), the pooled levels and, last, the disparity.

    Attributes
    ----------
    equal, equals : what the multipliers bind.  most, mosts : upper limits, the first ``own`` the
        clients', the others everybody's.
    gain : of the tied cells.  base : of the others.  slack : (I,) whose budgets bind nobody.
    """

    tied: int
    equal: Array
    equals: Array
    most: Array
    mosts: Array
    own: int
    gain: Array
    base: float
    slack: Array

    def programme(self, disparity: float | None, without: int | None = None) -> Any:
        """The most useful rule with at most ``disparity``, or the least disparate (None), without
        one bound: of a tied cell, or, beyond these, of a client.
        """
        low, high, mosts = np.zeros(self.most.shape[1]), np.ones(self.most.shape[1]), self.mosts
        high[-1], cost = np.inf, np.append(np.zeros(high.size - 1), 1.0)
        if disparity is not None:
            high[-1], cost = disparity, -np.pad(self.gain, (0, high.size - self.tied))
        if without is not None and without < self.tied:
            low[without], high[without] = -1.0, 2.0
        elif without is not None:
            mosts = mosts + (np.arange(mosts.size) == without - self.tied)
        found = scipy.optimize.linprog(
            cost,
            A_ub=ROWS * self.most,
            b_ub=ROWS * mosts,
            A_eq=ROWS * self.equal,
            b_eq=ROWS * self.equals,
            bounds=np.stack([low, high], axis=1),
            method="highs",
            options=highs.OPTIONS,
        )
        return found if found.success else None

    def budgets(self, found: Any) -> Array:
        """(I,) of a solved programme."""
        eps = found.x[self.tied : self.tied + self.slack.size]
        return np.clip(np.where(eps <= FAIR, 0.0, eps), 0.0, SLACK_BUDGET)

    def place(self, disparity: float | None) -> Place | None:
        """The best with at most ``disparity``, or the least disparate; None where there is none."""
        found = self.programme(disparity)
        if found is None:
            return None
        cell = found.lower.marginals[: self.tied] + found.upper.marginals[: self.tied]
        cost = np.abs(np.append(cell, ROWS * found.ineqlin.marginals[: self.own]))
        walls = np.argsort(-cost, kind="stable")[: int((cost > COSTS).sum())]
        gain = self.base + float(self.gain @ found.x[: self.tied])
        return Place(self, self.budgets(found), gain, float(found.x[-1]), walls)

    @cached_property
    def least(self) -> Place | None:
        """Its least disparate rule."""
        return self.place(None)

    @cached_property
    def most_useful(self) -> float:
        """The largest gain on it, whatever the disparity."""
        found = self.place(np.inf)
        return -np.inf if found is None else found.gain


@dataclass
class FaceSearch:
    """The clients' problem ``local`` with budgets of one, the ``client`` (K,) of each constraint,
    the ``pooled`` problem with a budget of one, and the faces that were found.
    """

    fed: Federation
    model: FiniteModel
    task: Task
    local: Problem
    client: Array
    pooled: Problem
    faces: dict[bytes, Face] = field(default_factory=dict)

    @classmethod
    def of(cls, fed: Federation, model: FiniteModel, task: Task) -> FaceSearch:
        """Solve the budgets to start from."""
        law, one = model.pooled(fed.mass), np.ones(fed.n_clients)
        local = clients_problem(task, law, model.joint(fed.mass), one)
        rates = len(NOTIONS[task.notion])
        client = np.tile(np.repeat(np.arange(one.size), local.eps.size // rates // one.size), rates)
        search = cls(fed, model, task, local, client, law_problem(task, law, one[:1]))
        rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
        free = np.nan_to_num(search.ends[0].local_disparities) + MARGIN
        tight = rng.random((STARTS, one.size)) < np.linspace(0.0, 1.0, STARTS)[:, None]
        scale = np.where(np.arange(STARTS) % 2, 1.0, NEARLY)[:, None]
        drawn = np.where(tight, scale * free * rng.random(tight.shape), SLACK_BUDGET)
        for eps in (0.0 * one, one, *drawn):
            search.face(eps)
        return search

    @cached_property
    def ends(self) -> list[Any]:
        """The solutions without budgets and with all of them zero."""
        return [self.solved(np.full(self.fed.n_clients, eps)) for eps in (SLACK_BUDGET, 0.0)]

    def solved(self, eps: Array) -> Any:
        """The certified solution at budgets (I,)."""
        return solve_fedavg_finite(self.fed, self.model, self.task, eps)

    def face(self, eps: Array) -> Face | None:
        """The face of the multipliers that are found for budgets (I,); None where none are."""
        local, known = self.local, np.isfinite(self.local.eps)
        scale = np.where(known, local.eps, 0.0)
        budgets = np.where(known, scale * eps[self.client], np.inf)
        try:
            found = solve_box(replace(local, eps=budgets), settle=False)
        except CertificationError:
            return None
        lam = found.multipliers
        s = local.scores(lam)
        tied = undecided(local.u, local.v, lam, s) | ((found.f > 0) & (found.f < 1))
        rest = np.where(tied, 0.0, s > 0)
        key = np.concatenate([tied, rest, np.sign(lam)]).astype(np.int8).tobytes()
        if key not in self.faces:
            self.faces[key] = self._built(tied, rest, np.sign(lam), scale)
        return self.faces[key]

    def _built(self, tied: Array, rest: Array, sign: Array, scale: Array) -> Face:
        local, pooled = self.local, self.pooled
        clients, cells = self.fed.n_clients, local.u.size - local.levels
        budget = scale[:, None] * (self.client[:, None] == np.arange(clients))
        bound, loose = sign != 0, (sign == 0) & (scale > 0)
        level = np.zeros((len(scale), pooled.levels + 1))
        rows = np.concatenate([local.v[:, tied], sign[:, None] * budget, level], axis=1)
        limit = np.concatenate([0.0 * rows[:, : tied.sum()], budget, level], axis=1)[loose]
        rates = np.isfinite(pooled.eps)
        everybody = np.pad(pooled.v[rates, :cells], ((0, 0), (0, local.levels)))
        shared = np.concatenate(
            [
                everybody[:, tied],
                np.zeros((len(everybody), clients)),
                pooled.v[rates, cells:],
                np.zeros((len(everybody), 1)),
            ],
            axis=1,
        )
        apart = np.zeros_like(shared)
        apart[:, -1] = pooled.eps[rates]
        held, md = local.values(rest), everybody @ rest + pooled.b[rates]
        return Face(
            int(tied.sum()),
            rows[bound],
            -held[bound],
            np.concatenate(
                [rows[loose] - limit, -rows[loose] - limit, shared - apart, -shared - apart]
            ),
            np.concatenate([-held[loose], held[loose], -md, md]),
            2 * int(loose.sum()),
            local.u[tied],
            float(local.u @ rest),
            ~np.isin(np.arange(clients), self.client[bound]),
        )

    def _next(self, here: Place, disparity: float | None) -> Iterator[Place]:
        """The best of the faces next to a place, one bound after the other."""
        for wall in here.walls:
            beyond = here.face.programme(disparity, int(wall))
            if beyond is None:
                continue
            for share in STEPS:
                eps = (1.0 - share) * here.eps + share * here.face.budgets(beyond)
                face = self.face(eps)
                there = None if face is None or face is here.face else face.place(disparity)
                if there is not None:
                    yield there

    def climb(self, here: Place, disparity: float | None) -> Place:
        """The best place that steps from face to face reach."""

        def worth(place: Place) -> float:
            return -place.disparity if disparity is None else place.gain

        while True:
            for there in self._next(here, disparity):
                if worth(there) > worth(here) + RISE:
                    here = there
                    break
            else:
                return here

    def best(self, disparity: float) -> Place | None:
        """The most useful place with at most ``disparity`` that climbs from the best faces find."""
        top: list[Place] = []
        for face in sorted(self.faces.values(), key=lambda face: -face.most_useful):
            if len(top) == CLIMBS and face.most_useful <= top[-1].gain:
                break
            fits = face.least is not None and face.least.disparity <= disparity
            here = face.place(disparity) if fits else None
            if here is not None:
                top = sorted([*top, here], key=lambda place: -place.gain)[:CLIMBS]
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
