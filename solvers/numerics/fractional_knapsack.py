"""All CFL solutions on a finite X for one constraint, by one sort (fractional knapsack).

From the most useful classifier on, 1/2 where nothing is gained, cells are flipped towards fairness
in the order of their exchange rate, the utility lost per unit of mean difference: M_a |2η - 1| for
accuracy and demographic parity. Every point of the path, on which only the cells of one exchange
rate are randomised, is optimal.
"""

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.tolerances import RATES_TIED
from fairfl.theory.populations.notions import HALF


@dataclass(frozen=True)
class KnapsackPath:
    """Flips in the order of their exchange rates.

    Attributes
    ----------
    start : (N,) the most useful classifier: 1 or 0 by the sign of the gain, 1/2 where it is 0.
    cells : (m,) flat positions of the cells in flipping order.  step : (m,) what flips add to f.
    exchange_rate : (m,) non-decreasing.
    gap : (m + 1,) |MD| after each flip, starting with |MD(start)|; decreasing, the last entry <= 0.
        A sum within rounding of 0 is 0.
    sign : that of MD(start).
    """

    start: Array
    cells: Array
    step: Array
    exchange_rate: Array
    gap: Array
    sign: float

    def classifier(self, eps: float) -> tuple[Array, Array]:
        """Probabilities (N,) at budget eps, and the multiplier λ (1,). The flips of one exchange
        rate are made by one share: of several optimal rules that is the one nearest to a coin toss.
        """
        f = self.start.copy()
        if eps >= self.gap[0] or self.cells.size == 0:
            return f, np.zeros(1)
        k = max(int(np.searchsorted(-self.gap, -eps, side="left")) - 1, 0)
        rate = self.exchange_rate
        tie = slice(*(int(rate.searchsorted(rate[k], side)) for side in ("left", "right")))
        top, bottom = self.gap[tie.start], self.gap[tie.stop]
        share = (top - eps) / (top - bottom)
        before, within = self.cells[: tie.start], self.cells[tie]
        f[before] += self.step[: tie.start]
        f[within] += share * self.step[tie]
        return f, -self.sign * rate[k : k + 1]


def knapsack_path(gain: Array, slope: Array, row: Array, offset: float) -> KnapsackPath:
    """The path of a problem with one constraint |MD| <= eps, MD = row·f + offset; ``gain`` and
    ``slope`` (N,) are what one person at a cell adds to the utility and to MD, ``row`` (N,)
    ``slope`` times its people.
    """
    start = 0.5 + 0.5 * np.sign(gain)
    table = row * start  # one table for all that follows: to fetch new memory takes longer
    md = float(table.sum()) + offset
    size = float(np.abs(table, out=table).sum()) + abs(offset) + abs(md)
    sign, rounding = float(np.sign(md)), HALF * np.finfo(np.float64).eps * size
    # flips towards fairness: rejects where accepting adds to |MD|, accepts where it takes from it
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.divide(gain, np.multiply(sign, slope, out=table), out=table)
    cells = ((rate >= 0) & (rate < np.inf)).nonzero()[0]
    rate = abs(rate[cells])
    order = rate.argsort(kind="stable")
    cells, rate = cells[order], rate[order]
    rises = rate[1:] > (1.0 + RATES_TIED) * rate[:-1]
    if not rises.all():
        is_first = np.append(True, rises)
        rate = rate[is_first][is_first.cumsum() - 1]
    changes, flipped = abs(row[cells]), np.zeros(rate.size + 1)
    changes[: rate.searchsorted(0.0, side="right")] /= 2.0  # from 1/2
    changes.cumsum(out=flipped[1:])
    # keep the flips down to MD = 0, whole ties included
    stop = min(int(flipped.searchsorted(abs(md) - rounding)), rate.size)
    stop = int(rate.searchsorted(rate[stop - 1], side="right")) if stop else 0
    cells, gap = cells[:stop], abs(md) - flipped[: stop + 1]
    gap[abs(gap) <= rounding] = 0.0
    gap[-1] = min(gap[-1], 0.0)
    step = (sign * slope[cells] < 0) - start[cells]
    return KnapsackPath(start, cells, step, rate[:stop], gap, sign)
