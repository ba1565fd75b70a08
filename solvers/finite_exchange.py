"""Better splits of fairness between clients on a finite X: exchanges between two, from two starts.

The trade-offs are broken lines, so some best split has all clients but one on vertices: if two were inside edges, an
exchange between them, along which the accuracy is linear, would lead one to a vertex without loss. Where all are
concave and nobody jumps, the walk along the hulls is such a split already. Else, where there are few vertices, all
combinations are tried, and the best of them is the answer; where there are many, exchanges between two clients, one on
each of its vertices and the other where the total then asks for it: a local search, from the walk and from a knapsack.
"""

from __future__ import annotations

import numpy as np

from fairfl.solvers.allocation import allocate
from fairfl.solvers.client_path import ClientPath
from fairfl.theory.checks import Array

COMBINATIONS = 20_000
"""So many combinations of vertices are all tried."""
SLACK = 1e-12
"""|MD| may exceed a goal by rounding."""
ROUNDS = 8
"""Passes over all pairs."""
GAIN = 1e-14
"""What an exchange must gain."""
PAIRS = 400
"""With more pairs of clients than this the walk along the hulls stays."""


def exchange(paths: list[ClientPath], weight: Array, sign: float, places: Array, wanted: Array) -> Array:
    """Fractional vertices (P, I) of better splits at |MD| <= wanted (P,), none of them on a jump.

    Where no split that was found meets a goal, the row is the least disparate of those found.
    """
    curves = [_Curve(path, sign) for path in paths]
    moving = [i for i, curve in enumerate(curves) if curve.f.size > 1]
    jumps = any(path.jump.any() for path in paths)
    if not moving or (not jumps and (len(moving) < 2 or all(curve.concave for curve in curves))):
        return places
    if np.prod([float(curve.f.size) for curve in curves]) <= COMBINATIONS:
        return _exhaust(curves, weight, wanted, moving)
    out = places.copy()
    pairs = [(i, j) for i in moving for j in moving if i != j]
    pairs = pairs if len(pairs) <= PAIRS else []
    second = _knapsack(curves, weight, wanted) if pairs else places
    for p, d in enumerate(wanted):
        found = []
        for start in (places[p], second[p]):
            place = np.array([curve.off_jumps(v) for curve, v in zip(curves, start, strict=True)])
            found.append(_improve(curves, weight, place, d, pairs))
        totals = [_total(curves, weight, v) for v in found]
        out[p] = found[_choice(np.array([t[0] for t in totals]), np.array([t[1] for t in totals]), d)]
    return out


def _choice(fairness: Array, accuracy: Array, d: float) -> int:
    """The most accurate of the splits with |MD| <= d, or the least disparate one."""
    meets = np.abs(fairness) <= d + SLACK
    return int(np.where(meets, accuracy, -np.inf).argmax()) if meets.any() else int(np.abs(fairness).argmin())


def _exhaust(curves: list[_Curve], weight: Array, wanted: Array, moving: list[int]) -> Array:
    """All combinations of vertices, and all but one client on vertices, for each goal."""
    grid = np.stack(np.meshgrid(*(curve.vertices for curve in curves), indexing="ij")).reshape(len(curves), -1)
    index = grid.astype(int)
    f = np.stack([w * c.f[k] for c, w, k in zip(curves, weight, index, strict=True)])
    a = np.stack([w * c.a[k] for c, w, k in zip(curves, weight, index, strict=True)])
    out = np.empty((wanted.size, len(curves)))
    for p, d in enumerate(wanted):
        k = _choice(f.sum(axis=0), a.sum(axis=0), d)
        found = [(grid[:, k], float(f[:, k].sum()), float(a[:, k].sum()))]
        for j in moving:
            rows = np.flatnonzero(index[j] == 0)  # each combination of the others once
            rest, others = (v[:, rows].sum(axis=0) - v[j, rows] for v in (f, a))
            at, allowed = curves[j].find((-d - rest) / weight[j])
            total = np.where(allowed, others + weight[j] * np.interp(at, curves[j].vertices, curves[j].a), -np.inf)
            k = int(total.argmax())
            if allowed[k]:
                place = grid[:, rows[k]].copy()
                place[j] = at[k]
                found.append((place, -d, float(total[k])))
        out[p] = found[_choice(np.array([v[1] for v in found]), np.array([v[2] for v in found]), d)][0]
    return out


class _Curve:
    """One client's broken line: fairness f = -sign·MD, monotone along the path, and accuracy a."""

    def __init__(self, path: ClientPath, sign: float) -> None:
        self.f, self.a, self.jump = -sign * path.md, path.accuracy, path.jump
        self.order = 1 if self.f[-1] >= self.f[0] else -1
        self.vertices = np.arange(self.f.size, dtype=np.float64)
        step = np.diff(self.f[:: self.order])
        moved = step > 1e-15
        slope = np.diff(self.a[:: self.order])[moved] / step[moved]
        self.concave = bool((np.diff(slope) <= 1e-12).all())

    def at(self, place: float) -> tuple[float, float]:
        return float(np.interp(place, self.vertices, self.f)), float(np.interp(place, self.vertices, self.a))

    def find(self, f: Array) -> tuple[Array, Array]:
        """Places with fairness f, and whether there is one that a budget attains."""
        place = np.interp(f, self.f[:: self.order], self.vertices[:: self.order])
        inside = (f >= min(self.f[0], self.f[-1]) - 1e-15) & (f <= max(self.f[0], self.f[-1]) + 1e-15)
        return place, inside & ~self.on_jump(place)

    def on_jump(self, place: Array) -> Array:
        edge = np.clip(np.floor(place).astype(int), 0, max(self.jump.size - 1, 0))
        return (place != np.floor(place)) & self.jump[edge] if self.jump.size else np.zeros(np.shape(place), bool)

    def off_jumps(self, place: float) -> float:
        """The place itself, or the fairer end of the jump that it lies on."""
        if not self.on_jump(np.array(place)):
            return float(place)
        return float(np.floor(place) + (self.order > 0))


def _total(curves: list[_Curve], weight: Array, place: Array) -> tuple[float, float]:
    values = np.array([curve.at(v) for curve, v in zip(curves, place, strict=True)])
    return float(weight @ values[:, 0]), float(weight @ values[:, 1])


def _improve(curves: list[_Curve], weight: Array, place: Array, d: float, pairs: list[tuple[int, int]]) -> Array:
    """Exchanges between two clients, client i on a vertex and client j where |MD| = d, until none gains."""
    place = place.copy()
    f, a = np.array([w * np.array(c.at(v)) for w, c, v in zip(weight, curves, place, strict=True)]).T
    for _ in range(ROUNDS):
        changed = False
        for i, j in pairs:
            first, second = curves[i], curves[j]
            fairness = float(f.sum())
            rest = fairness - f[i] - f[j]
            at, allowed = second.find((-d - rest - weight[i] * first.f) / weight[j])
            theirs = weight[j] * np.interp(at, second.vertices, second.a)
            total = np.where(allowed, weight[i] * first.a + theirs, -np.inf)
            k = int(total.argmax())
            # what is not fair enough yet takes the best that is, at any price
            if total[k] > (a[i] + a[j] + GAIN if abs(fairness) <= d + SLACK else -np.inf):
                place[i], place[j], changed = float(k), at[k], True
                f[i], a[i] = weight[i] * first.f[k], weight[i] * first.a[k]
                f[j], a[j] = weight[j] * np.array(second.at(at[k]))
        if not changed:
            break
    return place


def _knapsack(curves: list[_Curve], weight: Array, wanted: Array) -> Array:
    """(P, I) vertices next to a best split right up to cells of a grid."""
    rising = [(c.f[:: c.order], c.a[:: c.order], c.vertices[:: c.order]) for c in curves]
    given = allocate([r[0] for r in rising], [r[1] for r in rising], weight, -wanted)
    return np.stack([np.rint(np.interp(g, r[0], r[2])) for g, r in zip(given, rising, strict=True)], axis=1)
