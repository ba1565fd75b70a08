"""LFT+FedAvg over all budgets on a finite X, exactly: the envelope of the rules of all vertices at
which cells tie (FedFB, lemma 18), where these are few.

The worths of the rules of a vertex's face are concave in the disparity, and linear between a few of
them. None is above what CFL's reduced costs leave of CFL's value. So few faces are asked: the next
one is that which this bound leaves furthest above the envelope, until it leaves none. The programme
at one disparity after another finds the same, in up to 40 times the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import solve_finite
from fairfl.solvers.frontier import SLACK_BUDGET, Frontier, Points, build, points_of
from fairfl.solvers.lft_fedavg.finite_faces import Face, Faces
from fairfl.solvers.lft_fedavg.finite_vertices import LinearProgramme, TooMany, Vertices, vertices
from fairfl.solvers.numerics.segments import Segments, concave_breaks
from fairfl.solvers.solution import FINITE_TOLERANCE, CertificationError
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import EQUAL, LINEAR
from fairfl.theory.populations.federation import Federation

CLIENTS, VERTICES, ENTRIES = 3, 20_000, 20_000_000
"""With more clients than this, more vertices, or more vertices times cells, the frontier is left to
a search: K clients have some 4^K vertices.
"""
LINES = 100  # tangents of CFL's frontier, at most: with fewer more faces are asked


@dataclass(frozen=True)
class ExactFedAvg:
    """All that LFT+FedAvg attains: ``segments`` of disparities and worths, with budgets (I,) and
    multipliers (K,). A segment's multipliers certify its ends, and so all between them.
    """

    fed: Federation
    task: Task
    segments: Segments

    @classmethod
    def of(cls, fed: Federation, task: Task) -> ExactFedAvg:
        """Walk to all vertices, and ask the faces of some; TooMany, or CertificationError."""
        faces = Faces.of(fed, task)
        return cls(fed, task, VertexBounds.of(faces).envelope(fed, task))

    def points(self, disparity: Array) -> Points:
        """The best points with at most the disparities (P,), none below the smallest."""
        d, worth, carried = self.segments.at(*self.segments.best(disparity))
        eps, lam = np.split(carried, [self.fed.n_clients], axis=1)
        return Points(np.where(d <= FINITE_TOLERANCE, 0.0, d), worth, eps, lam)

    def frontier(self, points: int) -> Frontier:
        """``points`` of it at even steps of the disparity."""
        slack = np.full(self.fed.n_clients, SLACK_BUDGET)
        free = points_of(self.fed, [solve_finite(self.fed, self.task, slack)])
        low = self.segments.smallest
        targets = np.linspace(low, max(low, float(free.disparity[0])), points)
        return build("lft_fedavg", self.points(targets).join(free), self.points, exact=True)

    def minimum(self) -> Points:
        """The least disparate rule, of several the most useful."""
        return self.points(np.array([self.segments.smallest]))


@dataclass(frozen=True)
class VertexBounds:
    """What the rules of the vertices (B,) of ``faces`` are worth at most, whatever their disparity,
    ``top`` (B,), and how disparate they are at least, ``low`` (B,), for all that is known; of the
    cells ``counts`` (N,) that count, and the clients ``bound`` that have multipliers.
    """

    faces: Faces
    vertices: Vertices
    counts: Array
    bound: Array
    top: Array
    low: Array

    @classmethod
    def of(cls, faces: Faces) -> VertexBounds:
        """Walk to all vertices."""
        local, pooled = faces.local, faces.pooled
        bound = np.flatnonzero(np.abs(local.v).max(axis=1) > 0)
        if bound.size > CLIENTS:
            raise TooMany(f"{bound.size} clients")
        counts = (local.u != 0) | (local.v != 0).any(axis=0)
        cells = LinearProgramme(local.u[counts], local.v[bound][:, counts], local.b[bound])
        limit = min(VERTICES, ENTRIES // max(cells.u.size, 1))
        if limit < cells.u.size:  # one client has about as many vertices
            raise TooMany(f"{cells.u.size} cells")
        corners, md = vertices(cells, limit), pooled.v[0, counts]
        top, high = (corners.most(part) for part in (cells.u, md))
        low = np.maximum(-high - pooled.b[0], pooled.b[0] - corners.most(-md))
        return cls(faces, corners, counts, bound, local.base + top, np.maximum(low, 0.0))

    def face(self, vertex: int) -> Face:
        """The face of a vertex."""
        local = self.faces.local
        lam, f = np.zeros(local.owner.size), np.zeros(local.u.size)
        lam[self.bound] = self.vertices.lam[vertex]
        f[self.counts] = self.vertices.fixed[vertex]
        return self.faces.face(lam, f)

    def envelope(self, fed: Federation, task: Task) -> Segments:
        """The segments of the faces that may be the best at some disparity."""
        tangents, low, top = self.tangents, self.low.copy(), self.top.copy()
        segments, asked = Segments(np.zeros((0, 2, 2)), np.zeros(0, int)), set[int]()
        while (vertex := self._furthest(segments, tangents, low, top)) is not None:
            face = self.face(vertex)
            if vertex not in asked:  # its smallest disparity may settle it
                asked.add(vertex)
                fairest = face.place(None, refine=True)
                low[vertex] = np.inf if fairest is None else fairest.disparity
                continue
            top[vertex] = -np.inf
            corners = self._corners(fed, task, face, low[vertex])
            ends = np.stack([corners, np.concatenate([corners[1:], corners[-1:]])], axis=1)
            ends = np.concatenate([segments.ends, ends]) if segments.owner.size else ends
            segments = Segments(ends, np.zeros(len(ends), int)).undominated()
        return segments

    @property
    def tangents(self) -> tuple[Array, Array, Array, Array]:
        """Of CFL's frontier: values at disparity zero and slopes (M,), from steep to flat; the
        disparities (M + 1,) between which each is the lowest; and what rules of each vertex lose
        from it (B, M).
        """
        pooled = self.faces.pooled
        assert pooled.path is not None
        kinks = np.unique(np.append(0.0, np.maximum(pooled.path.gap, 0.0)))
        at = np.append((kinks[1:] + kinks[:-1]) / 2.0, kinks[-1] + 1.0)
        at = at[np.unique(np.linspace(0, at.size - 1, min(at.size, LINES)).round().astype(int))]
        lams = np.array([pooled.path.classifier(d * float(pooled.eps[0]))[1] for d in at])
        slopes, first = np.unique([-pooled.slope(lam) for lam in lams], return_index=True)
        reduced = np.array([pooled.scores(lam)[self.counts] for lam in lams[first]]).T
        none = pooled.at(np.zeros(1))
        values = np.array([pooled.base + none.dual(lam) for lam in lams[first]])
        meets = np.diff(values) / np.diff(slopes)
        edges = np.concatenate([[0.0], np.maximum.accumulate(meets), [np.inf]])
        lost = np.maximum(reduced, 0.0).sum(axis=0) - self.vertices.most(reduced)
        return values, -slopes, edges, lost

    def _furthest(
        self, segments: Segments, tangents: tuple[Array, ...], low: Array, top: Array
    ) -> int | None:
        """The vertex whose rules may be furthest above the segments; None where none may."""
        values, slopes, edges, lost = tangents
        ends = np.unique(np.append(edges[:-1], segments.ends[..., 0]))
        ends = np.append(ends, ends[-1] + 1.0)
        start, stop = ends[:-1], ends[1:]
        line = np.searchsorted(edges, start, side="right") - 1
        places, known = _kinks(segments, start, stop)
        room = values[line] + slopes[line] * places - known
        excess = room.max(axis=0) - lost[:, line]
        is_above = (low[:, None] <= stop) & (top[:, None] > known[0] + LINEAR) & (excess > LINEAR)
        furthest = np.where(is_above, excess, -np.inf).max(axis=1, initial=-np.inf)
        vertex = int(np.lexsort((low, -furthest))[0])
        return vertex if furthest[vertex] > -np.inf else None

    def _corners(self, fed: Federation, task: Task, face: Face, low: float) -> Array:
        """(C, 2 + I + K) disparities, worths, budgets and multipliers of certified rules between
        which the worths of a face are linear, from the smallest disparity ``low`` on.
        """

        def tangent(share: float) -> tuple[float, float]:
            place = face.place(low + share * (1.0 - low), refine=True)
            if place is None:
                raise CertificationError("a face lacks its own least disparate rule")
            return place.gain, (1.0 - low) * face.lines[-1][2]

        at = low + (1.0 - low) * concave_breaks(tangent)
        points = points_of(fed, [self.faces.solution(fed, task, face, float(d)) for d in at])
        assert points.multipliers is not None
        return np.column_stack([*points[:2], points.eps, points.multipliers])


def _kinks(segments: Segments, start: Array, stop: Array) -> tuple[Array, Array]:
    """(3, P) the ends of intervals inside of which no segment ends, between them where the best
    segments of the ends meet; and the worths that are known there, minus infinity where none is.
    """
    if not segments.owner.size:
        return np.stack([start, start, stop]), np.full((3, start.size), -np.inf)
    offers = np.stack(
        [segments.offers(x)[1] for x in (start, np.maximum(start, stop - 2.0 * EQUAL))]
    )
    best = offers[:, np.arange(start.size), offers.argmax(axis=2)]  # (2 ends, 2 segments, P)
    (first, last), is_known = best.transpose(1, 0, 2), np.isfinite(best[0, 0])
    rise, ahead, behind = np.subtract(
        [first[1], first[0], last[1]],
        [first[0], last[0], first[1]],
        out=np.zeros((3, start.size)),
        where=is_known,
    )
    meets = (ahead > 0) & (behind > 0)
    share = np.divide(ahead, ahead + behind, out=np.zeros(start.size), where=meets)
    places = np.stack([start, start + share * (stop - start), stop])
    return places, np.stack([first[0], first[0] + share * rise, last[1]])
