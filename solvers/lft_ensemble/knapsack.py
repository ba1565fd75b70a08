"""The best split of a total between curves that are not concave: a knapsack by max-plus
convolution.

The clients' MD adds up, and so does their accuracy: with J curves cut into cells of one width, the
best total accuracy at each total is a chain of max-plus convolutions, of (cells of the total)²,
however many clients there are. It is right up to a cell: a start for a local method, in the right
basin.
"""

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
    shares : J arrays, each increasing: where the clients' curves have values.
    worth : J arrays of the same lengths.
    weight : (J,) positive weights of both.
    """

    shares: list[Array]
    worth: list[Array]
    weight: Array

    @cached_property
    def _cells(self) -> Array:
        """(J,) how much of each client's curve is one cell of the total."""
        spans = np.array([curve[-1] - curve[0] for curve in self.shares])
        total = max(self.weight @ spans, 1e-300)
        return total / max(CELLS, CELLS_PER_CLIENT * spans.size) / self.weight

    @cached_property
    def _chain(self) -> tuple[list[Array], list[Array]]:
        """The curves in cells, and the best worth of each total of the first j clients, j from 0 to
        J; all but the last in single precision, which chooses as well.
        """
        cells, best, chain = [], np.zeros(1), []
        curves = zip(self.shares, self.worth, self.weight, self._cells, strict=True)
        for shares, worth, weight, cell in curves:
            count = (shares[-1] - shares[0]) / cell
            at = np.arange(round(count) + 1.0)
            values = np.interp(shares[0] + at * cell, shares, worth)
            if at.size > 1:  # straight to a whole cell: the curve ends up to half a cell from there
                values[-1] = values[-2] + (worth[-1] - values[-2]) / (count - at[-2])
            cells.append(weight * values)
            chain.append(best.astype(np.float32))
            best = _convolve(best, cells[-1])
        return cells, [*chain, best]

    def split(self, goals: Array) -> Array:
        """(J, P) the part of each client in a best split of a total in each range (P, 2), up to a
        cell.
        """
        cells, chain = self._chain
        place = (
            (goals - self.weight @ [g[0] for g in self.shares]) / self.weight[0] / self._cells[0]
        )
        ends = np.rint(place).clip(0, chain[-1].size - 1).astype(int)
        at = np.array([first + chain[-1][first : last + 1].argmax() for first, last in ends])
        out = np.empty((len(cells), at.size))
        for j, shares in reversed([*enumerate(self.shares)]):
            size = cells[j].size
            # row n holds the others' best totals of n - (size - 1) to n cells
            others = np.pad(chain[j], size, constant_values=-np.inf)
            rows = np.lib.stride_tricks.sliding_window_view(others, size)[at + 1]
            taken = size - 1 - (rows + cells[j][::-1]).argmax(axis=1)
            out[j] = np.where(taken < size - 1, shares[0] + taken * self._cells[j], shares[-1])
            at = at - taken
        return out


def _convolve(first: Array, second: Array) -> Array:
    """max_k first[n - k] + second[k] for every n."""
    best = np.full(first.size + second.size - 1, -np.inf)
    shorter, longer = sorted((first, second), key=len)
    tried = np.empty(longer.size)
    for k, value in enumerate(shorter):
        window = best[k : k + longer.size]
        np.maximum(window, np.add(longer, value, out=tried), out=window)
    return best
