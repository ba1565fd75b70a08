"""The best split of fairness between clients whose trade-offs are not concave: a knapsack by
max-plus convolution.

The clients' fairness adds up, and so does their accuracy: with J curves cut into cells of one
common fairness, the best total accuracy at each total is a chain of max-plus convolutions. The
cells of all clients add up to those of the total, so the chain costs (cells of the total)² however
many clients there are. Its choice is right up to a cell: a start for a local method, in the right
basin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairfl._support.checks import Array

CELLS = 4000
"""Cells of the total fairness, at least..."""
CELLS_PER_CLIENT = 40
"""... and for each client on average."""

STEEPEST = 1e3
"""A larger slope at the end of a curve is that of a jump, not one to go on with."""


@dataclass(frozen=True)
class Knapsack:
    """Curves of J clients, whose best splits are found for any totals by one chain.

    Attributes
    ----------
    fairness : J arrays, each increasing: where the clients' curves are given.
    accuracy : J arrays of the same lengths.
    weight : (J,) positive weights of both.
    """

    fairness: list[Array]
    accuracy: list[Array]
    weight: Array

    @cached_property
    def _step(self) -> float:
        """The width of a cell of weighted fairness."""
        spans = np.array([f[-1] - f[0] for f in self.fairness]) * self.weight
        return float(spans.sum()) / max(CELLS, CELLS_PER_CLIENT * spans.size)

    @cached_property
    def _chain(self) -> tuple[list[Array], list[Array]]:
        """The clients' curves in cells, and the best accuracy of each total of the first j
        clients, for j from 0 to J; all but the last in single precision, which chooses as well.
        """
        own, best, chain = [], np.zeros(1), []
        for f, a, w in zip(self.fairness, self.accuracy, self.weight, strict=True):
            # the last cell may be cut off by the curve's end
            count = int(np.ceil((f[-1] - f[0]) * w / self._step - 1e-9))
            own.append(w * _extended(f[0] + np.arange(count + 1) * self._step / w, f, a))
            chain.append(best.astype(np.float32))
            best = _convolve(best, own[-1])
        return own, [*chain, best]

    def best(self, goals: Array) -> tuple[Any, Array]:
        """(P,) the cells of the best total in each range (P, 2) of totals, and its accuracy.

        Parameters
        ----------
        goals : least and most total fairness Σ_j weight_j·fairness_j, equal for one goal.
        """
        if self._step <= 0.0:
            return np.zeros(len(goals), int), np.zeros(len(goals))
        best, low = self._chain[1][-1], float(self.weight @ [f[0] for f in self.fairness])
        ends = np.clip(np.rint((goals - low) / self._step).astype(int), 0, best.size - 1)
        at = ends[:, 0].copy()
        for k in np.flatnonzero(ends[:, 0] < ends[:, 1]):
            at[k] += best[ends[k, 0] : ends[k, 1] + 1].argmax()
        return at, best[at]

    def split(self, at: Any) -> Array:
        """(J, P) the unweighted fairness that each client gives in a best split of totals of ``at``
        (P,) cells, on its curve; each off by less than a cell, for a curve ends within one.
        """
        out = np.repeat(np.array([f[0] for f in self.fairness])[:, None], len(at), axis=1)
        if self._step <= 0.0:
            return out
        own, chain = self._chain
        for j in range(len(out) - 1, -1, -1):
            taken, size = at, own[j].size
            if j:  # row n holds the others' best totals of n - (size - 1) to n cells
                others = np.pad(chain[j], size, constant_values=-np.inf)
                rows = np.lib.stride_tricks.sliding_window_view(others, size)[at + 1]
                taken = size - 1 - (rows + own[j][::-1]).argmax(axis=1)
            given = out[j] + taken * self._step / self.weight[j]
            out[j], at = np.minimum(given, self.fairness[j][-1]), at - taken
        return out


def _extended(at: Array, f: Array, a: Array) -> Array:
    """The curve at points, straight on beyond its end: the last cell neither gives away fairness
    nor overcharges it.
    """
    inside = np.interp(at, f, a)
    if f[-1] == f[0]:
        return inside
    slope = (a[-1] - a[-2]) / max(f[-1] - f[-2], 1e-300)
    slope = slope if abs(slope) <= STEEPEST else 0.0
    return inside + np.maximum(at - f[-1], 0.0) * slope


def _convolve(first: Array, second: Array) -> Array:
    """max_k first[n - k] + second[k] for every n."""
    best = np.full(first.size + second.size - 1, -np.inf)
    shorter, longer = sorted((first, second), key=len)
    tried = np.empty(longer.size)
    for k, value in enumerate(shorter):
        window = best[k : k + longer.size]
        np.maximum(window, np.add(longer, value, out=tried), out=window)
    return best
