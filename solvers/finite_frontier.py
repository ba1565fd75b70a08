"""LFT+Ensemble over all eps on a finite X."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import optimize

from fairfl.solvers.client_path import ClientPath, client_path
from fairfl.solvers.finite_exchange import SLACK, exchange
from fairfl.solvers.frontier import Frontier, build, non_dominated
from fairfl.theory.checks import Array
from fairfl.theory.federation import Federation
from fairfl.theory.finite import FiniteModel


@dataclass(frozen=True)
class FiniteEnsemble:
    """The separable frontier problem: hull edges of all clients' paths, in the order of their price."""

    fed: Federation
    model: FiniteModel

    @cached_property
    def paths(self) -> list[ClientPath]:
        """One path per client."""
        return [client_path(self.fed, self.model, i) for i in range(self.fed.n_clients)]

    @cached_property
    def sign(self) -> float:
        """Sign of the pooled MD of the most accurate ensemble: where η differs, not the unconstrained one."""
        peaks = [float(p.md[int(p.accuracy.argmax())]) for p in self.paths]
        return 1.0 if float(self.fed.weight @ peaks) >= 0 else -1.0

    @cached_property
    def reachable(self) -> tuple[float, float]:
        """The interval of pooled MD over all eps."""
        low = sum(w * p.md.min() for w, p in zip(self.fed.weight, self.paths, strict=True))
        high = sum(w * p.md.max() for w, p in zip(self.fed.weight, self.paths, strict=True))
        return float(low), float(high)

    @cached_property
    def edges(self) -> tuple[Array, Array, Array, Array, Array]:
        """(price, client, from, to) of the hull edges to walk, and the (I,) starting vertices."""
        price, client, first, last, begin = [], [], [], [], []
        for i, path in enumerate(self.paths):
            vertices = _hull(-self.sign * path.md, path.accuracy)
            height = path.accuracy[vertices]
            peak = int(height.argmax())
            begin.append(vertices[peak])
            walk = vertices[peak:]
            rise = -self.sign * np.diff(path.md[walk])
            price.append(-np.diff(path.accuracy[walk]) / np.maximum(rise, 1e-300))
            client.append(np.full(walk.size - 1, i))
            first.append(walk[:-1])
            last.append(walk[1:])
        joined = [np.concatenate(v) for v in (price, client, first, last)]
        order = np.argsort(joined[0], kind="stable")
        return joined[0][order], joined[1][order], joined[2][order], joined[3][order], np.array(begin)

    def places(self, wanted: Array) -> Array:
        """(P, I) fractional vertices where |MD| first falls to ``wanted`` (P,), or at the fair end."""
        _, client, first, last, begin = self.edges
        weight = self.fed.weight
        md = np.array([p.md[b] for p, b in zip(self.paths, begin, strict=True)])
        start = self.sign * float(weight @ md)
        moved = [self.paths[i].md[a] - self.paths[i].md[b] for i, a, b in zip(client, first, last, strict=True)]
        drop = self.sign * weight[client] * np.array(moved)
        level = start - np.append(0.0, np.cumsum(drop))
        out = np.repeat(begin.astype(np.float64)[None], wanted.size, axis=0)
        for place, d in zip(out, wanted, strict=True):
            k = int(np.searchsorted(-level, -d, side="left"))  # edges 0..k-2 whole, edge k-1 in part
            whole = min(max(k - 1, 0), client.size)
            place[client[:whole]] = last[:whole]
            if 0 < k <= client.size and drop[k - 1] > 0:
                i = int(client[k - 1])
                goal = self.paths[i].md[first[k - 1]] - self.sign * (level[k - 1] - d) / weight[i]
                place[i] = _place(self.paths[i].md, int(first[k - 1]), int(last[k - 1]), goal)
            elif k > client.size:
                place[client] = last
        return out

    def best(self, wanted: Array) -> tuple[Array, Array, Array]:
        """MD (P,), accuracy (P,) and eps (P, I) of the best ensembles found with |MD| at most ``wanted`` (P,)."""
        return self.read(exchange(self.paths, self.fed.weight, self.sign, self.places(wanted), wanted))

    def read(self, places: Array) -> tuple[Array, Array, Array]:
        """MD (P,), accuracy (P,) and eps (P, I) at fractional vertices (P, I)."""
        got = [[path.at(p) for path, p in zip(self.paths, row, strict=True)] for row in places]
        md, accuracy, local = np.array(got).reshape(*places.shape, 3).transpose(2, 0, 1)
        return md @ self.fed.weight, accuracy @ self.fed.weight, np.where(places > 0, local, 1.0)


def _hull(x: Array, y: Array) -> Array:
    """Vertices of the concave majorant of points, by increasing x (which is monotone along the path)."""
    order = np.lexsort((y, x))
    # of points with one x (up to rounding: the pooled MD has not moved) the highest counts
    last = np.append(np.diff(x[order]) > 1e-15, True)
    block = np.append(0, np.cumsum(last)[:-1])
    best = np.full(int(block[-1]) + 1, -1)
    for k, b in zip(order, block, strict=True):
        if best[b] < 0 or y[k] >= y[best[b]]:
            best[b] = k
    if best.size == 1:
        return best
    rise = np.diff(x[best])
    slope = optimize.isotonic_regression(np.diff(y[best]) / rise, weights=rise, increasing=False)
    return best[slope.blocks]


def _place(md: Array, a: int, b: int, goal: float) -> float:
    """Fractional vertex between a and b at which md equals goal."""
    step = 1 if b > a else -1
    run = np.arange(a, b + step, step)
    values = md[run]
    sign = 1.0 if values[-1] >= values[0] else -1.0
    return float(np.interp(sign * goal, sign * values, run.astype(np.float64)))


def ensemble_frontier_finite(fed: Federation, model: FiniteModel, points: int) -> Frontier:
    """LFT+Ensemble's frontier over all eps on a finite X; every point attained."""
    family = FiniteEnsemble(fed, model)
    top = abs(family.read(family.places(np.array([np.inf])))[0][0])
    bottom = max(family.sign * float(family.read(family.places(np.array([-np.inf])))[0][0]), 0.0)
    md, accuracy, eps = family.best(np.linspace(bottom, top, points))
    known = non_dominated(np.abs(md), accuracy)
    edge, best = np.abs(md)[known], accuracy[known]

    def evaluate(d: Array) -> Array:
        found, value, _ = family.best(d)
        met = np.where(np.abs(found) <= d + SLACK, value, -np.inf)  # a goal within jumps of all clients is met by none
        return np.maximum(met, best[np.searchsorted(edge, d, side="right") - 1])

    return build("lft_ensemble", np.abs(md), accuracy, eps, evaluate)


def ensemble_minimum_finite(fed: Federation, model: FiniteModel) -> tuple[float, float, Array]:
    """(disparity, accuracy, eps): the end of the reachable interval nearest to zero, or zero.

    Where clients jump the reachable MD are not an interval; if 0 was not met, the least |MD| that was found.
    """
    family = FiniteEnsemble(fed, model)
    low, high = family.reachable
    crosses = low <= 0.0 <= high
    if crosses:  # unless jumps leave 0 out
        md, accuracy, eps = family.best(np.zeros(1))
        crosses = abs(float(md[0])) <= SLACK
    else:
        md, accuracy, eps = family.read(family.places(np.array([-np.inf])))
    return 0.0 if crosses else abs(float(md[0])), float(accuracy[0]), eps[0]
