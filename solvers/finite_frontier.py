"""LFT+Ensemble over all eps on a finite X."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import optimize

from fairfl.solvers.finite import local_path
from fairfl.solvers.frontier import Frontier, build
from fairfl.theory.checks import Array
from fairfl.theory.federation import Federation
from fairfl.theory.finite import FiniteModel


@dataclass(frozen=True)
class ClientPath:
    """One client's path at its tie ends: pooled MD and accuracy terms, and the local |MD|, which falls to 0."""

    md: Array
    accuracy: Array
    local: Array


def _client_path(fed: Federation, model: FiniteModel, client: int) -> ClientPath:
    gain = model.gain(fed.mass)
    pooled = np.einsum("ia,ian->an", fed.within, model.conditional)
    start = 2.0 * model.eta[client] - 1.0 > 0
    rate = (pooled * start).sum(axis=1)
    md0, accuracy0 = rate[0] - rate[1], 1.0 - fed.base_rate + float(gain[start].sum())
    if not fed.defined[client]:
        return ClientPath(np.array([md0]), np.array([accuracy0]), np.zeros(1))
    path = local_path(fed, model, client)
    if path.cells.size == 0:
        return ClientPath(np.array([md0]), np.array([accuracy0]), np.maximum(path.gap[:1], 0.0))
    n = model.points.size
    accept = ~path.start.ravel()[path.cells]
    toward = np.where(accept, 1.0, -1.0)
    side = np.where(path.cells < n, 1.0, -1.0)
    md = md0 + np.append(0.0, np.cumsum(toward * side * pooled.ravel()[path.cells]))
    accuracy = accuracy0 + np.append(0.0, np.cumsum(toward * gain.ravel()[path.cells]))
    ends = np.append(0, np.flatnonzero(np.append(np.diff(path.price) > 0, True)) + 1)
    md, accuracy, local = md[ends], accuracy[ends], path.gap[ends]
    if local.size > 1 and local[-1] < 0:  # the last tie is taken in part, down to a local MD of zero
        share = local[-2] / (local[-2] - local[-1])
        md[-1] = md[-2] + share * (md[-1] - md[-2])
        accuracy[-1] = accuracy[-2] + share * (accuracy[-1] - accuracy[-2])
        local[-1] = 0.0
    return ClientPath(md, accuracy, np.maximum(local, 0.0))


@dataclass(frozen=True)
class FiniteEnsemble:
    """The separable frontier problem: hull edges of all clients' paths, in the order of their price."""

    fed: Federation
    model: FiniteModel

    @cached_property
    def paths(self) -> list[ClientPath]:
        """One path per client."""
        return [_client_path(self.fed, self.model, i) for i in range(self.fed.n_clients)]

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

    def walk(self, wanted: Array) -> tuple[Array, Array, Array]:
        """MD (P,), accuracy (P,) and eps (P, I) where |MD| first falls to ``wanted``, or at the fair end."""
        _, client, first, last, begin = self.edges
        weight = self.fed.weight
        md = np.array([p.md[b] for p, b in zip(self.paths, begin, strict=True)])
        start = self.sign * float(weight @ md)
        drop = np.array(
            [
                weight[i] * self.sign * (self.paths[i].md[a] - self.paths[i].md[b])
                for i, a, b in zip(client, first, last, strict=True)
            ]
        )
        level = start - np.append(0.0, np.cumsum(drop))
        out_md, out_accuracy, out_eps = [], [], []
        for d in wanted:
            k = int(np.searchsorted(-level, -d, side="left"))  # edges 0..k-2 whole, edge k-1 in part
            place = begin.astype(np.float64)
            whole = min(max(k - 1, 0), client.size)
            place[client[:whole]] = last[:whole]
            if 0 < k <= client.size and drop[k - 1] > 0:
                i = int(client[k - 1])
                goal = self.paths[i].md[first[k - 1]] - self.sign * (level[k - 1] - d) / weight[i]
                place[i] = _place(self.paths[i].md, int(first[k - 1]), int(last[k - 1]), goal)
            elif k > client.size:
                place[client] = last
            got = [self._read(i, float(p)) for i, p in enumerate(place)]
            out_md.append(float(weight @ [g[0] for g in got]))
            out_accuracy.append(float(weight @ [g[1] for g in got]))
            out_eps.append([g[2] if p > 0 else 1.0 for g, p in zip(got, place, strict=True)])
        return np.array(out_md), np.array(out_accuracy), np.array(out_eps).reshape(len(out_md), -1)

    def _read(self, i: int, place: float) -> tuple[float, float, float]:
        k = min(int(place), self.paths[i].md.size - 1)
        t = place - k
        table = (self.paths[i].md, self.paths[i].accuracy, self.paths[i].local)
        md, accuracy, local = (float(v[k] + t * (v[min(k + 1, v.size - 1)] - v[k])) for v in table)
        return md, accuracy, local


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
    top = abs(family.walk(np.array([np.inf]))[0][0])
    bottom = max(family.sign * float(family.walk(np.array([-np.inf]))[0][0]), 0.0)
    md, accuracy, eps = family.walk(np.linspace(bottom, top, points))
    return build("lft_ensemble", np.abs(md), accuracy, eps, lambda d: family.walk(d)[1])


def ensemble_minimum_finite(fed: Federation, model: FiniteModel) -> tuple[float, float, Array]:
    """(disparity, accuracy, eps): the end of the reachable interval nearest to zero, or zero."""
    family = FiniteEnsemble(fed, model)
    low, high = family.reachable
    crosses = low <= 0.0 <= high
    md, accuracy, eps = family.walk(np.array([0.0 if crosses else -np.inf]))
    return 0.0 if crosses else abs(float(md[0])), float(accuracy[0]), eps[0]
