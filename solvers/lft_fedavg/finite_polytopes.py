"""The rules that are optimal at one vertex λ: a polytope, and its upper hull in (MD, accuracy).

At a vertex λ the optimal rules are P = {f in [0, 1]^T : side_i MD_i(f) <= 0}, T the undecided
cells. MD and accuracy are linear on P, so its image is a convex polygon, and its non-dominated
points are on the polygon's upper hull, for MD of either sign. A corner of P has at most K cells
strictly between 0 and 1, one for each MD_i held at 0: few undecided cells are enumerated, many (η
that is constant over many points) go to linear programmes.
"""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_fedavg.finite_vertices import LinearProgramme, Vertices
from fairfl.solvers.numerics import highs
from fairfl.solvers.tolerances import CORNER_ABOVE, CORNER_MISSED

CORNERS = 3_000
"""Up to so many candidates for corners are enumerated: 8 undecided cells at K = 2, 6 at K = 3."""
BATCH = 200_000
"""Candidates at once: bounds the memory."""


class Chains(NamedTuple):
    """Upper hulls, corner after corner: ``vertex`` (C,) of each corner, its ``md`` and ``accuracy``
    less the constant P(y = 0), and ``local`` (C, K), the MD_i.
    """

    vertex: Array
    md: Array
    accuracy: Array
    local: Array


def chains(problem: LinearProgramme, vertices: Vertices) -> Chains:
    """The upper hulls at all vertices with an optimal rule, each by increasing MD."""
    count = vertices.tied.sum(axis=1)
    parts: list[Chains] = []
    for k in np.unique(count):
        same = np.flatnonzero(count == k)
        candidates = _candidates(int(k), len(problem.v))
        size = max(1, BATCH // candidates)
        for b in range(0, len(same), size):
            parts += _group(problem, vertices, same[b : b + size], enumerated=candidates <= CORNERS)
    return Chains(*(np.concatenate(v) for v in zip(*parts, strict=True)))


def _candidates(k: int, rows: int) -> int:
    """How many corners k cells and ``rows`` constraints may have."""
    return sum(math.comb(k, j) * math.comb(rows, j) * 2 ** (k - j) for j in range(min(k, rows) + 1))


def _group(
    problem: LinearProgramme, vertices: Vertices, same: Array, *, enumerated: bool
) -> list[Chains]:
    """The hulls at vertices ``same``, which have equally many undecided cells."""
    parts = []
    group = vertices.take(same)
    cells = np.nonzero(group.tied)[1].reshape(len(same), -1)
    fixed_values = group.fixed @ problem.v.T
    corners = (
        _corners(problem.v[:, cells].swapaxes(0, 1), fixed_values, group.side)
        if enumerated
        else None
    )
    for b, vertex in enumerate(same):
        u, v, pooled = problem.u[cells[b]], problem.v[:, cells[b]], problem.pooled[cells[b]]
        if corners is None:
            hull = _hull_by_programmes(u, v, pooled, fixed_values[b], group.side[b])
        else:
            hull = corners[b][~np.isnan(corners[b]).any(axis=1)]
            hull = hull[_upper_hull(hull @ pooled, hull @ u)]
        if len(hull):
            md = problem.pooled @ group.fixed[b] + hull @ pooled
            gain = problem.u @ group.fixed[b] + hull @ u
            parts.append(Chains(np.full(len(hull), vertex), md, gain, fixed_values[b] + hull @ v.T))
    return parts


def _corners(v: Array, fixed_values: Array, side: Array) -> Array:
    """Corners (B, M, k) of {f in [0, 1]^k : side (held + v f) <= 0}, NaN where a candidate is none.

    v is (B, K, k), held and side are (B, K).
    """
    _, rows, k = v.shape
    out: list[Array] = []
    for j in range(min(rows, k) + 1):
        whole = np.array([*itertools.product((0.0, 1.0), repeat=k - j)])
        for free, zero in itertools.product(
            itertools.combinations(range(k), j), itertools.combinations(range(rows), j)
        ):
            fixed = np.setdiff1d(np.arange(k), free)
            f = np.empty((len(v), len(whole), k))
            f[:, :, fixed] = whole
            if j:
                square = v[:, zero][:, :, free]
                meets = (np.linalg.det(square) != 0) & (side[:, zero] != 0).all(axis=1)
                square = np.where(meets[:, None, None], square, np.eye(j))
                goal = -fixed_values[:, zero, None] - v[:, zero][:, :, fixed] @ whole.T
                solved = np.linalg.solve(square, goal).swapaxes(1, 2)
                f[:, :, free] = np.where(meets[:, None, None], solved, np.nan)
            inside = np.all((f >= -CORNER_MISSED) & (f <= 1.0 + CORNER_MISSED), axis=2)
            f = np.clip(f, 0.0, 1.0)  # rounding alone
            values = fixed_values[:, None] + f @ v.swapaxes(1, 2)
            right = np.all(side[:, None] * values <= CORNER_MISSED, axis=2)
            out.append(np.where((inside & right)[..., None], f, np.nan))
    return np.concatenate(out, axis=1)


def _upper_hull(x: Array, y: Array) -> Array:
    """Positions of the upper hull's corners by increasing x, among them the highest at the ends."""
    hull: list[int] = []
    for p in np.lexsort((y, x)):
        if hull and x[p] - x[hull[-1]] <= 0:
            hull.pop()  # the same x, and not higher
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (x[b] - x[a]) * (y[p] - y[a]) < (y[b] - y[a]) * (x[p] - x[a]):
                break
            hull.pop()
        hull.append(int(p))
    return np.array(hull, dtype=np.intp)


@dataclass(frozen=True)
class Polytope:
    """Rates of undecided cells under constraints, whose ``limit`` (R,) the ``programme`` has."""

    u: Array
    pooled: Array
    programme: highs.Programme
    limit: Array

    def furthest(self, md: float, accuracy: float) -> Array | None:
        """The corner (k,) with the most md·MD + accuracy·accuracy, None where there is no rule."""
        aim = md * self.pooled + accuracy * self.u
        size, none = float(np.abs(aim).max()) or 1.0, np.full(self.limit.size, -np.inf)
        box = np.zeros(aim.size), np.ones(aim.size)
        optimum = self.programme.refined(aim / size, *box, none, self.limit)
        return None if optimum is None else optimum.x


def _hull_by_programmes(
    u: Array, v: Array, pooled: Array, fixed_values: Array, side: Array
) -> Array:
    """The same upper hull of many undecided cells by linear programmes, each for the corner that is
    furthest one way: (C, k) by increasing MD, none where there is no rule.
    """
    bound = side != 0
    programme = highs.Programme(side[bound, None] * v[bound])
    polytope = Polytope(u, pooled, programme, CORNER_MISSED - (side * fixed_values)[bound])
    left, right = polytope.furthest(-1.0, 0.0), polytope.furthest(1.0, 0.0)
    if left is None or right is None:
        return np.empty((0, u.size))
    corners_found, chords = [left, right], [(left, right)]
    while chords:  # each is split at the corner furthest above it
        left, right = chords.pop()
        x, y = float(pooled @ (right - left)), float(u @ (right - left))
        way = (-y, x) if x > CORNER_MISSED else (0.0, 1.0)
        top = polytope.furthest(*way)
        assert top is not None
        if (way[0] * pooled + way[1] * u) @ (top - left) > CORNER_ABOVE * np.hypot(*way):
            corners_found.append(top)
            chords += [(left, top), (top, right)] if x > CORNER_MISSED else []
    corners = np.array(corners_found)
    return corners[_upper_hull(corners @ pooled, corners @ u)]
