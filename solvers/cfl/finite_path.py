"""All CFL solutions on a finite X for one constraint, by one sort (fractional knapsack), with
randomised vertices.

From the most useful classifier on, cells are flipped towards fairness in the order of their
exchange rate, the utility lost per unit of mean difference: M_a |2η - 1| at (a, x) for accuracy and
demographic parity. This is the fractional knapsack: every point of the path, on which only the
cells of one exchange rate are randomised, is optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.populations.notions import without_rounding

TIED = 1e-13
"""Exchange rates that differ by no larger share are one."""


@dataclass(frozen=True)
class FlipPath:
    """Flips in the order of their exchange rates.

    Attributes
    ----------
    start : (N,) bool, the most useful classifier (η > 1/2, at costs of one).
    cells : (m,) flat positions of the cells in flipping order.
    exchange_rate : (m,) non-decreasing.
    gap : (m + 1,) |MD| after each flip, starting with |MD(start)|; decreasing, the last entry <= 0.
        A sum within rounding of 0 is 0.
    sign : the sign of MD(start).
    """

    start: Any
    cells: Any
    exchange_rate: Array
    gap: Array
    sign: float

    def position(self, eps: Array) -> tuple[Any, Array]:
        """For each eps the number of whole flips and the fraction of the next, with |MD| = min(eps,
        |MD(start)|).
        """
        k = np.clip(np.searchsorted(-self.gap, -eps, side="left") - 1, 0, max(self.gap.size - 2, 0))
        if self.gap.size == 1:
            return np.zeros(eps.shape, int), np.zeros(eps.shape)
        step = self.gap[k] - self.gap[k + 1]
        fraction = np.where(
            eps >= self.gap[0], 0.0, (self.gap[k] - eps) / np.where(step > 0, step, 1.0)
        )
        return k, np.clip(fraction, 0.0, 1.0)

    def tie(self, k: int) -> slice:
        """All flips with the exchange rate of flip ``k``."""
        low = int(np.searchsorted(self.exchange_rate, self.exchange_rate[k], side="left"))
        high = int(np.searchsorted(self.exchange_rate, self.exchange_rate[k], side="right"))
        return slice(low, high)

    def classifier(self, eps: float) -> tuple[Array, float]:
        """Probabilities (N,) at budget eps, and the multiplier λ.

        The flips of one exchange rate are all taken with the same probability: the rule is then a
        function of η alone.
        """
        f = self.start.astype(np.float64)
        if eps >= self.gap[0] or self.cells.size == 0:
            return f, 0.0
        k = max(int(np.searchsorted(-self.gap, -eps, side="left")) - 1, 0)
        tie = self.tie(k)
        top, bottom = self.gap[tie.start], self.gap[tie.stop]
        share = (top - eps) / (top - bottom)
        before, within = self.cells[: tie.start], self.cells[tie]
        f[before] = 1.0 - f[before]
        f[within] += share * (1.0 - 2.0 * f[within])
        return f, -self.sign * float(self.exchange_rate[k])


def flip_path(gain: Array, slope: Array, row: Array, offset: float = 0.0) -> FlipPath:
    """The path of one constraint |MD| <= eps, MD = row·f + offset.

    Parameters
    ----------
    gain, slope : (N,) what one person at a cell adds to the utility and to MD, where f = 1.
    row : (N,) ``slope`` times the people of the cell.
    """
    start = gain > 0
    terms = row[start]
    size = np.abs(terms).sum() + abs(offset)
    md = float(without_rounding(terms.sum() + offset, size))
    sign = float(np.sign(md))
    # a flip towards fairness: rejects where accepting adds to |MD|, accepts where it takes from it
    adds = slope > 0 if sign > 0 else slope < 0
    cells = np.flatnonzero((adds == start) & (slope != 0)) if sign else np.zeros(0, int)
    rate = np.abs(gain[cells]) / np.abs(slope[cells])
    order = np.argsort(rate, kind="stable")
    cells, rate = cells[order], rate[order]
    first = np.append(True, rate[1:] > (1.0 + TIED) * rate[:-1])[: rate.size]
    rate = rate[first][np.cumsum(first) - 1]
    flipped = np.append(0.0, np.cumsum(np.abs(row[cells])))
    gap = without_rounding(abs(md) - flipped, size + flipped)
    # keep the flips down to MD = 0, whole ties included
    stop = int(np.searchsorted(-gap, 0.0, side="left"))
    stop = (
        int(np.searchsorted(rate, rate[min(stop, rate.size) - 1], side="right"))
        if stop > 0 and rate.size
        else 0
    )
    gap[-1] = min(gap[-1], 0.0) if stop == cells.size else gap[-1]
    return FlipPath(start, cells[:stop], rate[:stop], gap[: stop + 1], sign)
