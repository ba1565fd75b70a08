"""LFT+FedAvg over all budgets on a finite X, exactly: from the vertices at which cells tie (FedFB,
lemma 18).

All rules that are optimal for some eps are optimal at a vertex λ at which cells tie (``vertices``).
The rules at one vertex attain a polygon (``polytopes``), and the frontier is the envelope of the
polygons' upper sides (``segments``). Where several rules are optimal for one eps, each of them
counts as attained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import SLACK_BUDGET, Frontier, Points, build
from fairfl.solvers.lft_fedavg.finite_polytopes import chains
from fairfl.solvers.lft_fedavg.finite_vertices import LinearProgramme, TooMany, vertices
from fairfl.solvers.numerics.segments import Segments
from fairfl.solvers.problem import clients_problem, law_problem
from fairfl.solvers.solution import ADVICE, FINITE_TOLERANCE, Certificate, budget_term
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import CORNER_MISSED
from fairfl.theory.populations.federation import Federation

CLIENTS, VERTICES, ENTRIES = 3, 20_000, 20_000_000
"""With more clients than this, more vertices, or more vertices times cells, the frontier is left to
a search: K clients have some 4^K vertices, and the corners of the polytope at each grow as fast.
"""


@dataclass(frozen=True)
class ExactFedAvg:
    """All that LFT+FedAvg attains: ``segments``, their ``other`` the MD_i of clients ``bound``;
    multipliers (S, K) and dual values (S,) without the terms ε|λ|, by vertex.
    """

    clients: int
    bound: Array
    segments: Segments
    lam: Array
    dual: Array

    @classmethod
    def of(cls, fed: Federation, task: Task) -> ExactFedAvg:
        """Walk to all vertices.

        Raises
        ------
        TooMany : there are too many for that.
        """
        local = clients_problem(fed, task)
        gain, rows, pooled = local.u, local.v, law_problem(fed, task).v[0]
        bound = np.flatnonzero(np.abs(rows).max(axis=1) > 0)
        if bound.size > CLIENTS:
            raise TooMany(f"{bound.size} clients")
        counts = (gain != 0) | (pooled != 0)
        problem = LinearProgramme(gain[counts], rows[bound][:, counts], pooled[counts])
        limit = min(VERTICES, ENTRIES // max(problem.u.size, 1))
        if limit < problem.u.size:  # one client has about as many vertices
            raise TooMany(f"{problem.u.size} cells")
        corners = vertices(problem, limit)
        corner = chains(problem, corners)
        # neighbours on one hull, and every corner with itself: a hull may be a point
        first = np.arange(len(corner.vertex))
        last = np.append(first[1:], first[-1])
        last = np.where(corner.vertex[last] == corner.vertex, last, first)
        base = local.base
        ends = np.stack([first, last], axis=1)
        values = corner.md[ends], base + corner.accuracy[ends], corner.local[ends]
        segments = Segments.folded(*values, corner.vertex).undominated()
        dual = base + np.maximum(problem.u + corners.lam @ problem.v, 0.0).sum(axis=1)
        return cls(fed.n_clients, bound, segments, corners.lam, dual)

    def points(self, disparity: Array) -> Points:
        """The best points with at most ``disparity`` (P,).

        Raises
        ------
        CertificationError : a point is not within FINITE_TOLERANCE of its budgets' dual value.
        """
        segment, place = self.segments.best(disparity)
        d, accuracy, local = self.segments.at(segment, place)
        owner = self.segments.owner[segment]
        lam = self.lam[owner]
        tight = np.where(np.abs(local) <= CORNER_MISSED, 0.0, np.abs(local))
        eps = np.full((len(d), self.clients), SLACK_BUDGET)
        eps[:, self.bound] = np.where(lam != 0, tight, SLACK_BUDGET)
        # at a budget of 0 in place of 1e-14, multipliers of 100 are worth 1e-12 of accuracy
        accuracy = accuracy - budget_term(lam, np.where(tight == 0, np.abs(local), 0.0)).sum(axis=1)
        dual = self.dual[owner] + budget_term(lam, tight).sum(axis=1)
        gap = float(np.abs(dual - accuracy).max(initial=0.0))
        excess = float((np.abs(local) - eps[:, self.bound]).max(initial=0.0))
        Certificate(0.0, gap, excess).check(FINITE_TOLERANCE, ADVICE)
        multipliers = np.zeros_like(eps)
        multipliers[:, self.bound] = lam
        return Points(np.where(d <= FINITE_TOLERANCE, 0.0, d), accuracy, eps, multipliers)

    def frontier(self, points: int) -> Frontier:
        """``points`` of it at even steps of the disparity."""
        targets = np.linspace(self.segments.smallest, self.segments.largest, points)
        return build("lft_fedavg", self.points(targets), self.points, exact=True)

    def minimum(self) -> Points:
        """The least disparate rule, of several the most accurate."""
        return self.points(np.array([self.segments.smallest]))
