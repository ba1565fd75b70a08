"""The best split of a total between curves that are not concave: a knapsack by max-plus
convolution.

The clients' MD adds up, and so does their accuracy: with J curves cut into cells of one common
width, the best total accuracy at each total is a chain of max-plus convolutions. The cells of all
clients add up to those of the total, so the chain costs (cells of the total)² however many clients
there are. Its choice is right up to a cell: a start for a local method, in the right basin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array

CELLS = 4000
"""Cells of the total, at least..."""
CELLS_PER_CLIENT = 40
"""... and for each client on average."""


@dataclass(frozen=True)
class Knapsack:
    """Curves of J clients, whose best splits are found for any totals by one chain.

    Attributes
    ----------
    given : J arrays, each increasing: where the clients' curves are known.
    worth : J arrays of the same lengths.
    weight : (J,) positive weights of both.
    """

    given: list[Array]
    worth: list[Array]
    weight: Array

    @cached_property
    def _spans(self) -> Array:
        """(J, 2) the ends of the clients' curves."""
        return np.array([[own[0], own[-1]] for own in self.given])

    @cached_property
    def _counts(self) -> Array:
        """(J,) cells of each client, as wide as each other's up to rounding."""
        spans = np.ptp(self._spans, axis=1) * self.weight
        share = spans / max(spans.sum(), 1e-300)
        return np.rint(share * max(CELLS, CELLS_PER_CLIENT * spans.size)).clip(1).astype(int)

    @cached_property
    def _chain(self) -> tuple[list[Array], list[Array]]:
        """The clients' curves in cells, and the best worth of each total of the first j clients,
        for j from 0 to J; all but the last in single precision, which chooses as well.
        """
        own, best, chain = [], np.zeros(1), []
        curves = zip(self.given, self.worth, self.weight, self._counts, strict=True)
        for given, worth, weight, count in curves:
            at = np.linspace(given[0], given[-1], count + 1)
            own.append(weight * np.interp(at, given, worth))
            chain.append(best.astype(np.float32))
            best = _convolve(best, own[-1])
        return own, [*chain, best]

    def best(self, goals: Array) -> Array:
        """(P,) the cells of the best total in each range (P, 2) of totals Σ_j weight_j·given_j."""
        best, (low, high) = self._chain[1][-1], self.weight @ self._spans
        place = (goals - low) / max(high - low, 1e-300) * (best.size - 1)
        ends = np.rint(place).clip(0, best.size - 1).astype(int)
        return np.array([first + best[first : last + 1].argmax() for first, last in ends])

    def split(self, at: Array) -> Array:
        """(J, P) the unweighted part that each client gives in a best split of totals of ``at``
        (P,) cells, on its curve; each off by less than a cell.
        """
        own, chain = self._chain
        taken = np.empty((len(own), at.size), int)
        for j in range(len(own) - 1, -1, -1):
            size = own[j].size
            # row n holds the others' best totals of n - (size - 1) to n cells
            others = np.pad(chain[j], size, constant_values=-np.inf)
            rows = np.lib.stride_tricks.sliding_window_view(others, size)[at + 1]
            taken[j] = size - 1 - (rows + own[j][::-1]).argmax(axis=1)
            at = at - taken[j]
        low, high = self._spans.T[:, :, None]
        return low + taken / self._counts[:, None] * (high - low)


def _convolve(first: Array, second: Array) -> Array:
    """max_k first[n - k] + second[k] for every n."""
    best = np.full(first.size + second.size - 1, -np.inf)
    shorter, longer = sorted((first, second), key=len)
    tried = np.empty(longer.size)
    for k, value in enumerate(shorter):
        window = best[k : k + longer.size]
        np.maximum(window, np.add(longer, value, out=tried), out=window)
    return best
