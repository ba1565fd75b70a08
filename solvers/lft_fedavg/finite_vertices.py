"""The multipliers λ at which K cells of a linear programme, or axes λ_i = 0, are undecided, by a
walk along edges.

A rule f solves LFT+FedAvg(eps) for some eps iff for some λ it has f_c = ⟦s_c > 0⟧ wherever s = u +
λV is not zero, and λ_k y_k <= 0 for all values y = Vf + b. Within a face of the arrangement of the
planes {s_c = 0} and the axes the set of such f is constant, and on its closure, which has a vertex,
it can only be larger: the vertices give every optimal rule of every budget. Optimal pairs (f, λ) of
all budgets are connected, so that a walk from λ = 0 along edges finds all.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.tolerances import CELL_TIED, MD_SIGNLESS, VERTEX_ZERO

FLAT = 1e-10
"""Unit normals with a singular value below this fix no line; slopes below it meet no plane."""
ROOM = 5_000_000  # lines times planes, or times K², at once: some 300 MB
BLOCK = 2_000_000  # vertices times cells at once: bounds the memory
DIGITS = 12  # multipliers that agree to so many decimals are one vertex


@dataclass(frozen=True)
class LinearProgramme:
    """Gains ``u`` (N,) of cells, and the values y = v f + b of K limits: ``v`` (K, N), b (K,)."""

    u: Array
    v: Array
    b: Array


@dataclass(frozen=True)
class Vertices:
    """Multipliers ``lam`` (B, K), and which cells (B, N) are ``tied``, or accepted (``fixed``)."""

    lam: Array
    tied: Array
    fixed: Array

    def take(self, rows: Array | slice) -> Vertices:
        """The vertices ``rows``."""
        return Vertices(self.lam[rows], self.tied[rows], self.fixed[rows])

    @property
    def side(self) -> Array:
        """(B, K) the sign that y_k must not have; 0 where it may have any."""
        return np.sign(self.lam)

    def most(self, terms: Array) -> Array:
        """(B,) the most that the vertices' rules have of ``terms`` (N,)."""
        positive, step = np.maximum(terms, 0.0), max(1, BLOCK // max(terms.size, 1))
        blocks = (self.take(slice(b, b + step)) for b in range(0, len(self.lam), step))
        return np.concatenate([v.fixed @ terms + v.tied @ positive for v in blocks])


class TooMany(Exception):
    """More vertices, or lines that meet in them, than the walk has room for."""


def vertices(problem: LinearProgramme, limit: int) -> Vertices:
    """All vertices at which some rule is optimal for some budgets; TooMany, or planes in one."""
    walk, reached = _Walk(problem), decided(problem, np.zeros((1, len(problem.v))))
    visited, parts = {*_keys(reached.lam)}, [reached.lam]
    while reached.lam.size:
        lam = walk.neighbours(reached)
        fresh = {key: row for key, row in zip(_keys(lam), lam, strict=True) if key not in visited}
        visited |= fresh.keys()
        tried = decided(problem, np.reshape([*fresh.values()], (len(fresh), len(problem.v))))
        reached = tried.take(possible(problem, tried))
        parts.append(reached.lam)
        if sum(map(len, parts)) > limit:
            raise TooMany(f"more than {limit} vertices")
    return decided(problem, np.concatenate(parts))


def _keys(lam: Array) -> list[bytes]:
    return [row.tobytes() for row in np.round(lam, DIGITS) + 0.0]


def decided(problem: LinearProgramme, lam: Array) -> Vertices:
    """What is tied and what is accepted at lam (B, K)."""
    s = problem.u + lam @ problem.v
    tied = undecided(problem.u, problem.v, lam, s)
    return Vertices(lam, tied, (s > 0) & ~tied)


def undecided(u: Array, v: Array, lam: Array, s: Array) -> Array:
    """Which s = u + λV (..., N) are zero up to rounding, of s or of the multipliers (..., K)."""
    size = np.abs(v)
    terms = np.abs(u) + np.abs(lam) @ size
    return np.abs(s) <= CELL_TIED * terms + VERTEX_ZERO * size.max(axis=0, initial=0.0)


def possible(problem: LinearProgramme, vertices: Vertices) -> Array:
    """(B,) whether the tied cells can give each y_k, on its own, the sign that it must have."""
    v = problem.v
    lowest, highest = (vertices.tied @ part.T for part in (np.minimum(v, 0.0), np.maximum(v, 0.0)))
    side, values = vertices.side, vertices.fixed @ v.T + problem.b
    excess = side * values + np.where(side > 0, lowest, -highest)
    return np.all((vertices.side == 0) | (excess <= MD_SIGNLESS), axis=1)


class _Walk:
    """The planes normals (P, K) · λ = offsets (P,), of the clients' cells and then the axes."""

    def __init__(self, problem: LinearProgramme) -> None:
        count = problem.v.shape[0]
        self.cells = np.flatnonzero(np.abs(problem.v).max(axis=0, initial=0.0) > 0)
        size = np.linalg.norm(problem.v[:, self.cells], axis=0)
        self.normals = np.concatenate([problem.v[:, self.cells] / size, np.eye(count)], axis=1).T
        self.offsets = np.concatenate([-problem.u[self.cells] / size, np.zeros(count)])

    def neighbours(self, vertices: Vertices) -> Array:
        """(B', K) the next vertices, both ways, on every line in which planes meet at a vertex."""
        is_met = np.concatenate([vertices.tied[:, self.cells], vertices.lam == 0], axis=1)
        n_multipliers = self.normals.shape[1]
        total = sum(math.comb(int(planes), n_multipliers - 1) for planes in is_met.sum(axis=1))
        if total * max(len(self.normals), n_multipliers * n_multipliers) > ROOM:
            if len(is_met) == 1:
                raise TooMany(f"{total} lines through one vertex")
            halves = np.array_split(np.arange(len(is_met)), 2)
            return np.concatenate([self.neighbours(vertices.take(rows)) for rows in halves])
        vertex_of_line, lines = [], []
        for b, planes in enumerate(is_met):
            combinations = list(itertools.combinations(np.flatnonzero(planes), n_multipliers - 1))
            lines += combinations
            vertex_of_line += [b] * len(combinations)
        rows = np.reshape(lines, (len(lines), n_multipliers - 1)).astype(np.intp)
        vertex = np.array(vertex_of_line, dtype=np.intp)
        direction, is_line = _directions(self.normals[rows])
        rows, vertex, direction = rows[is_line], vertex[is_line], direction[is_line]
        slope = direction @ self.normals.T
        meets = ~is_met[vertex] & (np.abs(slope) > FLAT)
        plane_value = vertices.lam @ self.normals.T - self.offsets
        step_to_plane = np.where(meets, -plane_value[vertex] / np.where(meets, slope, 1.0), np.nan)
        next_vertices = []
        for signed_step in (step_to_plane, -step_to_plane):
            step_ahead = np.where(signed_step > 0, signed_step, np.inf)
            plane = step_ahead.argmin(axis=1)
            is_reached = np.isfinite(step_ahead[np.arange(len(step_ahead)), plane])
            basis = np.concatenate([rows[is_reached], plane[is_reached, None]], axis=1)
            offsets = self.offsets[basis][..., None]
            next_vertices.append(np.linalg.solve(self.normals[basis], offsets)[..., 0])
        lam = np.concatenate(next_vertices)
        return np.where(np.abs(lam) <= VERTEX_ZERO, 0.0, lam)


def _directions(normals: Array) -> tuple[Array, Array]:
    """Unit directions (L, K) of the lines normal to (L, K-1, K), and whether these fix one."""
    _, size, basis = np.linalg.svd(normals)
    return basis[:, -1], size.min(axis=1, initial=1.0) > FLAT
