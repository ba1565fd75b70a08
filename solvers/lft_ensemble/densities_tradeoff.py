"""The trade-off of each client of an ensemble between accuracy and fairness, tabulated.

Client j's rule at multiplier λ moves the pooled fairness F_j = -sign·MD_j and the pooled accuracy
A_j. With pooled densities p_a and own masses m_a, pooled masses M_a, the exchange rate at a common
η is

    κ_j(λ) = -dA_j/dF_j = |λ|·(M_0/m_0·B_0 + M_1/m_1·B_1)/(B_0 + B_1),    B_a = p_a(t_a)·|dt_a/dλ|,

a weighted mean of the numbers |λ|·M_a/m_a. Where q_j is the pooled q it is |λ| itself, and the
trade-off is concave. In other federations the weights depend on λ, κ_j need not increase, and the
trade-off may be convex in parts. That is a property of the federation, not an error of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.lft_ensemble.knapsack import Knapsack

HALVINGS = 24
"""Halvings of a cell next to a peak."""
NODES = 513
"""Nodes of a client's table."""
ROUNDS = 3
"""Times that the nodes are moved to where the trade-off moves."""
EVEN = 0.5
"""Weight of an even spread, against one by what changes."""


@dataclass(frozen=True)
class Tradeoffs:
    """The trade-offs of J clients at common nodes.

    Attributes
    ----------
    u : (J, N) increasing from 0: how far along its interval of multipliers a client goes.
    fairness : (J, N) -sign·MD of the pooled law under client j's rule, monotone along each row.
    accuracy : (J, N) the accuracy on the pooled law under client j's rule.
    weight : (J,) the clients' weights.
    """

    u: Array
    fairness: Array
    accuracy: Array
    weight: Array

    @cached_property
    def _splines(self) -> tuple[Array, Array]:
        """Coefficients (4, N-1, J) of the cubic splines of fairness and accuracy in u."""
        values = np.stack([self.fairness, self.accuracy], axis=2)
        both = np.stack([_spline(u, v) for u, v in zip(self.u, values, strict=True)], axis=2)
        return both[..., 0], both[..., 1]

    @cached_property
    def knapsack(self) -> Knapsack:
        """The best splits of fairness between the clients."""
        rows = [rising(f, a) for f, a in zip(self.fairness, self.accuracy, strict=True)]
        return Knapsack([r[0] for r in rows], [r[1] for r in rows], self.weight)

    def split(self, at: Any) -> Array:
        """Coordinates (J, P) of the knapsack's split of totals of ``at`` (P,) cells."""
        rows = [rising(f, u) for f, u in zip(self.fairness, self.u, strict=True)]
        given = self.knapsack.split(at)
        return np.stack([np.interp(g, f, u) for g, (f, u) in zip(given, rows, strict=True)])

    def peaks(self, start: Array) -> Array:
        """Coordinates (J, P) of the clients' own peaks of accuracy next to a start: by halving,
        between the two nodes around the nearest.
        """
        rows, last = np.arange(len(start))[:, None], self.u.shape[1] - 1
        k = np.stack([np.searchsorted(own, at) for own, at in zip(self.u, start, strict=True)])
        k = np.minimum(k, last)
        # A' at the node between says in which of the two cells the peak is
        k = np.where(self.slopes(self.u[rows, k])[2] > 0, k, k - 1).clip(0, last - 1)
        c3, c2, c1 = (self._splines[1][m][k, rows] for m in range(3))
        low, high = np.zeros(k.shape), self.u[rows, k + 1] - self.u[rows, k]
        for _ in range(HALVINGS):
            t = (low + high) / 2
            rises = (3 * c3 * t + 2 * c2) * t + c1 > 0
            low, high = np.where(rises, t, low), np.where(rises, high, t)
        return self.u[rows, k] + (low + high) / 2

    def slopes(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """F', F'', A', A'' in u, at coordinates (J, P): each (J, P)."""
        k = np.stack(
            [np.searchsorted(own, at, side="right") - 1 for own, at in zip(self.u, u, strict=True)]
        )
        k = np.clip(k, 0, self.u.shape[1] - 2)
        rows = np.arange(u.shape[0])[:, None]
        t = u - self.u[rows, k]
        out = []
        for table in self._splines:
            c3, c2, c1 = (table[m][k, rows] for m in range(3))
            out += [(3 * c3 * t + 2 * c2) * t + c1, 6 * c3 * t + 2 * c2]
        return out[0], out[1], out[2], out[3]


def spread_nodes(
    own: Callable[[Array], tuple[Array, Array]], reach: Array
) -> tuple[Array, Array, Array]:
    """(u, F, A): for each client NODES coordinates in [0, reach], all (J, NODES), between which the
    values of ``own`` move about evenly.

    A client's rule may pass all that it has within a small part of its interval: nodes go where
    something changes.
    """
    u = reach[:, None] * np.linspace(0.0, 1.0, NODES)
    u[:, -1] = reach
    values = own(u)
    moves = np.flatnonzero(reach > 0)
    for _ in range(ROUNDS if moves.size else 0):
        share = EVEN * np.diff(u[moves]) / reach[moves, None]
        for v in values:
            span = np.maximum(np.ptp(v[moves], axis=1, keepdims=True), 1e-300)
            share += np.abs(np.diff(v[moves])) / span
        # gradual: for the spline
        share = np.pad(share / (2 + EVEN), ((0, 0), (2, 2)), mode="edge")
        share = np.lib.stride_tricks.sliding_window_view(share, 5, axis=1).mean(axis=2)
        along = np.pad(np.cumsum(share, axis=1), ((0, 0), (1, 0)))
        for j, to in zip(moves, along, strict=True):
            u[j] = np.interp(np.linspace(0.0, to[-1], NODES), to, u[j])
        u[:, -1] = reach
        values = own(u)
    return u, values[0], values[1]


def _spline(u: Array, values: Array) -> Array:
    if u[-1] == 0.0:  # a client that is fair already stays where it is
        return np.zeros((4, u.size - 1, values.shape[1]))
    return scipy.interpolate.CubicSpline(u, values).c


def rising(fairness: Array, other: Array) -> tuple[Array, Array]:
    """Both arrays in the order in which fairness increases."""
    order = slice(None, None, -1) if fairness[-1] < fairness[0] else slice(None)
    return fairness[order], other[order]
