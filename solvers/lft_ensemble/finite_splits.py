"""The best split of MD between clients with piecewise linear trade-offs: an exact search by reduced
costs.

    maximise Σ_j A_j  subject to  |Σ_j G_j| <= d,  (G_j, A_j) on client j's broken line, jumps left
    out.

Some best split has all clients but one on vertices: if two were inside edges, MD could be moved
from one to the other, along which the accuracy is linear, until one is at a vertex, without loss.
For a slope κ of MD the accuracy is at most

    D(κ) = Σ_j max_v (A_jv - κ G_jv) + |κ| d,    and exactly    D(κ) - Σ_j r_j - (|κ| d - κ Σ_j G_j)

at a split, where the reduced cost r_j >= 0 is what client j's place falls short of its maximum. At
the best κ, found by one sort of the edges of all concave majorants, few vertices have small reduced
costs. All combinations whose costs add up to at most a limit are listed; the limit grows until a
split that loses no more than the limit is among them: it is the optimum. κ has the sign of the
better side of MD = 0; the other side and all between are searched too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.lft_ensemble.finite_client_path import ClientPath

SLACK = 1e-12
"""|MD| may exceed a goal by rounding."""
EQUAL = 1e-15
"""Accuracies this close are the same."""
CLOSE = 1e-10
"""A split that loses no more than this against D is taken for the best."""
GROWTH, LAST = 8.0, 4.0
"""The limit on a sum of reduced costs grows by this, up to where no split is left out."""
MOST, LEAST = 500_000, 2000
"""With more combinations, times clients, and at least with so many, the cheapest are kept: the best
may be lost.
"""
BLOCK = 100_000
"""Combinations times clients in one batch."""


@dataclass(frozen=True)
class Splits:
    """The weighted broken lines of I clients, each row filled up with its last vertex.

    Attributes
    ----------
    md, accuracy : (I, V) π_i G_i and π_i A_i at the vertices.
    size : (I,) how many vertices each client has.
    edge : (I, V) whether a budget stops between a vertex and the next.
    """

    md: Array
    accuracy: Array
    size: Array
    edge: Array

    @classmethod
    def of(cls, paths: list[ClientPath], weight: Array) -> Splits:
        """From the clients' paths."""
        size = np.array([p.md.size for p in paths])
        most = int(size.max())

        def table(rows: list[Array], count: int, mode: str) -> Array:
            return np.stack([np.pad(r, (0, count - r.size), mode=mode) for r in rows])  # type: ignore[call-overload]

        md = weight[:, None] * table([p.md for p in paths], most, "edge")
        accuracy = weight[:, None] * table([p.accuracy for p in paths], most, "edge")
        return cls(md, accuracy, size, table([~p.jump for p in paths], most, "constant"))

    @cached_property
    def _edges(self) -> tuple[Array, Array, Array, Array, Array]:
        """The edges of all concave majorants by falling slope: slopes (E,), clients, far ends;
        total MD (E + 1,).

        And the vertices (I,) before all edges.
        """
        slope, client, first, end, step = [], [], [], [], []
        for j, (g, a, n) in enumerate(zip(self.md, self.accuracy, self.size, strict=True)):
            v = _hull(g[:n], a[:n])
            step.append(np.diff(g[v]))
            slope.append(np.diff(a[v]) / step[-1])
            client.append(np.full(v.size - 1, j))
            first.append(v[0])
            end.append(v[1:])
        slopes, clients, ends, steps = (np.concatenate(v) for v in (slope, client, end, step))
        order = np.argsort(-slopes, kind="stable")
        level = float(self.md.min(axis=1).sum()) + np.append(0.0, np.cumsum(steps[order]))
        return slopes[order], clients[order], ends[order], level, np.array(first)

    def along(self, d: float) -> tuple[float, Array]:
        """The κ that minimises D, and the two combinations (2, I) of the majorants' vertices where
        |MD| meets d.
        """
        slopes, client, end, level, first = self._edges
        # between them lie the most accurate
        free, flat = int((slopes > 0).sum()), int((slopes >= 0).sum())
        if level[free] <= d and level[flat] >= -d:
            k, kappa = free + int(np.abs(level[free : flat + 1]).argmin()), 0.0
        else:
            goal = d if level[free] > d else -d
            k = int(np.clip(np.searchsorted(level, goal, side="left"), 1, max(slopes.size, 1)))
            kappa = float(slopes[k - 1]) if slopes.size else 0.0
        homes = []
        for count in (max(k - 1, 0), k):
            homes.append(first.copy())
            homes[-1][client[:count]] = end[:count]
        return kappa, np.stack(homes)

    @cached_property
    def top(self) -> float:
        """|MD| beyond which nothing gets more accurate: the most accurate vertices reach it.

        Where two of them lie on both sides of MD = 0, a jump may make all MD between them
        unattainable.
        """
        slopes, _, _, level, _ = self._edges
        return float(min(abs(level[int((slopes > 0).sum())]), abs(level[int((slopes >= 0).sum())])))

    def best(self, d: float) -> tuple[Array, float]:
        """Fractional vertices (I,) of the most accurate split with |MD| <= d, and by how much
        others may be better.

        Where none was found that meets d, the least disparate split, and infinity.
        """
        kappa, homes = self.along(d)
        value = self.accuracy - kappa * self.md
        cost = value.max(axis=1, keepdims=True) - value
        cost[np.arange(self.md.shape[1]) >= self.size[:, None]] = np.inf
        homes_cost = cost[np.arange(len(cost)), homes].sum(axis=1)
        loss, place = self._ends(homes, homes_cost, cost, kappa, d)
        limit, complete = CLOSE / GROWTH, True
        while loss > limit and limit <= LAST and (complete or loss == np.inf):
            limit = min(limit * GROWTH, loss + EQUAL)
            listed, spent, complete = _listed(cost, self.md, limit)
            found = self._ends(listed, spent, cost, kappa, d)
            loss, place = min((loss, place), found, key=lambda v: v[0])
        if not np.isfinite(loss):
            return self.fairest, np.inf
        return place, 0.0 if complete or loss <= CLOSE else loss

    def _ends(
        self, at: Array, spent: Array, cost: Array, kappa: float, d: float
    ) -> tuple[float, Array]:
        """The smallest loss within |MD| <= d and its split: combinations (S, I), or one client
        moved along an edge.
        """
        best, place = np.inf, at[0].astype(np.float64)
        rows = np.arange(len(self.md))
        for part in np.array_split(np.arange(len(at)), 1 + at.size // BLOCK):
            here, own = at[part], spent[part]
            total = self.md[rows, here].sum(axis=1)
            inside = np.flatnonzero(np.abs(total) <= d + SLACK)
            found = [
                (
                    inside,
                    np.zeros(inside.size, int),
                    np.zeros(inside.size),
                    own[inside],
                    total[inside],
                )
            ]
            for step in (-1, 1):
                after = np.clip(here + step, 0, self.size - 1)
                whole = self.md[rows, after] - self.md[rows, here]
                open_ = self.edge[rows, np.minimum(here, after)] & (whole != 0)
                for goal in (-d, d):
                    t = (goal - total[:, None]) / np.where(open_, whole, 1.0)
                    s, j = np.nonzero(open_ & (t > 0) & (t < 1))
                    dearer = cost[j, after[s, j]] - cost[j, here[s, j]]
                    found.append(
                        (s, j, step * t[s, j], own[s] + t[s, j] * dearer, np.full(s.size, goal))
                    )
            s, j, moved, costs, reached = (np.concatenate(v) for v in zip(*found, strict=True))
            if not s.size:
                continue
            loss = costs + np.maximum(abs(kappa) * d - kappa * reached, 0.0)
            ties = np.flatnonzero(loss <= loss.min() + EQUAL)
            k = ties[np.abs(reached[ties]).argmin()]  # of equally accurate ones the least disparate
            if loss[k] < best:
                best, place = float(loss[k]), here[s[k]].astype(np.float64)
                place[j[k]] += moved[k]
        return best, place

    @cached_property
    def fairest(self) -> Array:
        """Fractional vertices (I,) of a split with the smallest |MD|, from the sums of what the
        clients reach.
        """
        own = [_joined(*_stretches(*v)) for v in zip(self.md, self.edge, self.size, strict=True)]
        sums = [(np.zeros(1), np.zeros(1))]
        for low, high in own:
            sums.append(
                _joined(
                    *((s[:, None] + o).ravel() for s, o in zip(sums[-1], (low, high), strict=True))
                )
            )
        low, high = sums[-1]
        near = np.clip(0.0, low, high)
        goal = float(near[np.abs(near).argmin()])
        place = np.empty(len(self.md))
        for j in range(len(self.md) - 1, -1, -1):
            # the stretches of the others and of client j whose sum holds the goal best
            low, high = ((s[:, None] + o) for s, o in zip(sums[j], own[j], strict=True))
            miss = np.maximum(low - goal, 0.0) + np.maximum(goal - high, 0.0)
            s, o = np.unravel_index(int(miss.argmin()), miss.shape)
            mine = float(np.clip(goal - sums[j][0][s], own[j][0][o], own[j][1][o]))
            place[j] = self._at(j, mine)
            goal -= mine
        return place

    def _at(self, j: int, md: float) -> float:
        """Where on its line client j has MD ``md``; next to a vertex, the vertex."""
        g = self.md[j, : self.size[j]]
        near = int(np.abs(g - md).argmin())
        if abs(g[near] - md) <= EQUAL:
            return float(near)
        across = self.edge[j, : g.size - 1] & ((g[:-1] < md) != (g[1:] < md))
        k = int(np.flatnonzero(across)[0])
        return k + float((md - g[k]) / (g[k + 1] - g[k]))


def _stretches(md: Array, edge: Array, size: int) -> tuple[Array, Array]:
    """What one client reaches: least and most MD between jumps.

    A blind rule flips a level for both groups at once, so that the pooled MD need not rise or fall
    all along.
    """
    first = np.append(0, np.flatnonzero(~edge[: size - 1]) + 1)
    return np.minimum.reduceat(md[:size], first), np.maximum.reduceat(md[:size], first)


def _joined(low: Array, high: Array) -> tuple[Array, Array]:
    """The union of intervals, those that touch made one."""
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    apart = low[1:] > high[:-1] + EQUAL
    return low[np.append(True, apart)], high[np.append(apart, True)]


def _listed(cost: Array, md: Array, limit: float) -> tuple[Array, Array, bool]:
    """Combinations of vertices (S, I) whose costs add up to at most ``limit``, their costs (S,),
    and whether all.
    """
    spent, total, steps = np.zeros(1), np.zeros(1), []
    complete, most = True, max(MOST // len(cost), LEAST)
    for j in np.flatnonzero((cost <= limit).sum(axis=1) > 1):
        vertices = np.flatnonzero(cost[j] <= limit)
        sums, totals = spent[:, None] + cost[j, vertices], total[:, None] + md[j, vertices]
        s, v = np.nonzero(sums <= limit)
        # the cheapest of each stretch of MD: what is left still reaches all totals
        if s.size > most:
            complete = False
            reached = totals[s, v]
            stretch = np.floor(
                (reached - reached.min()) / max(float(np.ptp(reached)), 1e-300) * most
            )
            order = np.lexsort((sums[s, v], stretch))
            cheap = order[np.append(True, np.diff(stretch[order]) > 0)]
            s, v = s[cheap], v[cheap]
        spent, total = sums[s, v], totals[s, v]
        steps.append((j, s, vertices[v]))
    at, row = np.tile(cost.argmin(axis=1), (spent.size, 1)), np.arange(spent.size)
    for j, parent, vertex in reversed(steps):  # each combination continues one of the step before
        at[:, j], row = vertex[row], parent[row]
    return at, spent, complete


def _hull(x: Array, y: Array) -> Array:
    """Vertices of the concave majorant of points, by increasing x."""
    order = np.lexsort((y, x))
    last = order[np.append(np.diff(x[order]) > EQUAL, True)]  # of points with one x the highest
    if last.size == 1:
        return last
    rise = np.diff(x[last])
    slope = scipy.optimize.isotonic_regression(
        np.diff(y[last]) / rise, weights=rise, increasing=False
    )
    return last[slope.blocks]
