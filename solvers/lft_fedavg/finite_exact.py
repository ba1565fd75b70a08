"""LFT+FedAvg's best rule at a disparity on a finite X, of all that are optimal for some budgets:
those of the vertices at which cells tie (FedFB, lemma 18), where these are few.

Every face of complementary multipliers has a vertex, whose face holds its rules (``vertices``). No
rule of a vertex is above what CFL's reduced costs leave of CFL's value, after the cells that it
decides otherwise. So the vertices are asked by this bound, each with a linear programme, until the
next bound is not above the best rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_fedavg.finite_cells import Relaxed
from fairfl.solvers.lft_fedavg.finite_faces import Face, Faces, Place
from fairfl.solvers.lft_fedavg.finite_vertices import LinearProgramme, TooMany, Vertices, vertices
from fairfl.solvers.tolerances import EQUAL, PROGRAMME_TIED

CLIENTS, VERTICES, ENTRIES = 3, 20_000, 20_000_000
"""With more clients than this, more vertices, or more vertices times cells, the best rule is left
to a search: K clients have some 4^K vertices.
"""


@dataclass(frozen=True)
class AllFaces:
    """The ``faces`` of all vertices: ``counts`` (N,) says which cells have a score, ``bound`` (K,)
    which clients have multipliers.

    Attributes
    ----------
    top : (B,) what the rules of a vertex are worth at most.
    low : (B,) how disparate they are at least, for all that is known.
    """

    faces: Faces
    vertices: Vertices
    counts: Array
    bound: Array
    top: Array
    low: Array

    @classmethod
    def of(cls, faces: Faces) -> AllFaces:
        """Walk to all vertices.

        Raises
        ------
        TooMany : there are too many for that.
        """
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
        return cls(faces, corners, counts, bound, top, np.maximum(low, 0.0))

    def face(self, vertex: int) -> Face:
        """The face of a vertex."""
        local = self.faces.local
        lam, f = np.zeros(local.owner.size), np.zeros(local.u.size)
        lam[self.bound] = self.vertices.lam[vertex]
        f[self.counts] = self.vertices.fixed[vertex]
        return self.faces.face(lam, f)

    def best(self, relaxed: Relaxed) -> Place | None:
        """The most useful rule with at most the disparity of CFL's solution."""
        assert relaxed.disparity is not None
        reduced, place = relaxed.reduced[self.counts], None
        loss = np.maximum(reduced, 0.0).sum() - self.vertices.most(reduced)
        bounds = np.minimum(relaxed.bound - loss, self.top)
        bounds[self.low > relaxed.disparity + PROGRAMME_TIED] = -np.inf
        for vertex in np.argsort(-bounds, kind="stable"):
            if bounds[vertex] <= (-np.inf if place is None else place.gain + EQUAL):
                break
            face = self.face(vertex)
            candidate = face.place(relaxed.disparity)
            if candidate is None:
                self.low[vertex] = np.inf if face.fairest is None else face.fairest.disparity
            elif place is None or candidate.gain > place.gain:
                place = candidate
        return place

    @property
    def fairest(self) -> Place | None:
        """The least disparate rule."""
        place = None
        for vertex in np.argsort(self.low, kind="stable"):
            if self.low[vertex] >= (np.inf if place is None else place.disparity):
                break
            candidate = self.face(vertex).fairest
            if candidate is not None and (place is None or candidate.disparity < place.disparity):
                place = candidate
        return place
