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
    def _chain(self) -> tuple[Array, list[Array]]:
        """The best accuracy of each total, and of each client the cells that it takes there."""
        best, choices = np.zeros(1), []
        for f, a, w in zip(self.fairness, self.accuracy, self.weight, strict=True):
            # the last cell may be cut off by the curve's end
            count = int(np.ceil((f[-1] - f[0]) * w / self._step - 1e-9))
            own = w * _extended(f[0] + np.arange(count + 1) * self._step / w, f, a)
            best, taken = _convolve(best, own)
            choices.append(taken.astype(np.min_scalar_type(count)))  # a byte, for most
        return best, choices

    def split(self, goals: Array) -> Array:
        """The fairness (J, P) that each client gives in a best split of the total, for each range
        of totals.

        Parameters
        ----------
        goals : (P, 2) least and most total fairness Σ_j weight_j·fairness_j, equal for one goal.

        Returns
        -------
        (J, P) unweighted fairness of each client, on its curve; each off by less than a cell, for a
        curve ends within one.
        """
        least = np.array([f[0] for f in self.fairness])
        if self._step <= 0.0:
            return np.repeat(least[:, None], len(goals), axis=1)
        best, choices = self._chain
        low = float(self.weight @ least)
        cells = np.clip(np.rint((goals - low) / self._step).astype(int), 0, best.size - 1)
        at = np.array([a + int(best[a : b + 1].argmax()) for a, b in cells])
        out = np.empty((least.size, len(goals)))
        for j in range(least.size - 1, -1, -1):
            k = choices[j][at]
            given = least[j] + k * self._step / self.weight[j]
            out[j] = np.minimum(given, self.fairness[j][-1])
            at = at - k
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


def _convolve(first: Array, second: Array) -> tuple[Array, Array]:
    """max_k first[n - k] + second[k] for every n, and the k that gives it."""
    best = np.full(first.size + second.size - 1, -np.inf)
    taken = np.zeros(best.size, dtype=int)
    shorter, longer, mirrored = (
        (second, first, False) if second.size <= first.size else (first, second, True)
    )
    for k, value in enumerate(shorter):
        window = slice(k, k + longer.size)
        tried = longer + value
        better = tried > best[window]
        np.copyto(best[window], tried, where=better)
        np.copyto(taken[window], k, where=better)
    return best, np.arange(best.size) - taken if mirrored else taken
