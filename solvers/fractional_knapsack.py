"""All CFL solutions on a finite X for one constraint, by one sort (fractional knapsack), with
randomised vertices.

From the most useful classifier on, 1/2 where nothing is gained, cells are flipped towards fairness
in the order of their exchange rate, the utility lost per unit of mean difference: M_a |2η - 1| at
(a, x) for accuracy and demographic parity. This is the fractional knapsack: every point of the
path, on which only the cells of one exchange rate are randomised, is optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.populations.notions import HALF

if TYPE_CHECKING:
    from fairfl.solvers.problem import Problem

TIED = 1e-13
"""Exchange rates that differ by no larger share are one."""
STEEP = 1e-6
"""Where the local |MD| changes by less than this share of the pooled MD or accuracy, one rounding
of a budget moves these by more than 1e-10, what a disparity may be missed by (``frontier.MET``).
"""


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
    cells: Any
    step: Array
    exchange_rate: Array
    gap: Array
    sign: float

    def classifier(self, eps: float) -> tuple[Array, Array]:
        """Probabilities (N,) at budget eps, and the multiplier λ (1,).

        The flips of one exchange rate are all made by the same share: of several optimal rules
        that is the one nearest to a coin toss, and it is a function of η alone.
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
    """The path of a problem with one constraint |MD| <= eps, MD = row·f + offset.

    Parameters
    ----------
    gain, slope : (N,) what one person at a cell adds to the utility and to MD, where f = 1.
    row : (N,) ``slope`` times the people of the cell.
    """
    start = 0.5 + 0.5 * np.sign(gain)
    table = row * start  # one table for all that follows: to fetch new memory takes longer
    md = float(table.sum()) + offset
    size = float(np.abs(table, out=table).sum()) + abs(offset) + abs(md)
    sign, tiny = float(np.sign(md)), HALF * np.finfo(np.float64).eps * size
    # flips towards fairness: rejects where accepting adds to |MD|, accepts where it takes from it
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.divide(gain, np.multiply(sign, slope, out=table), out=table)
    cells = ((rate >= 0) & (rate < np.inf)).nonzero()[0]
    rate = abs(rate[cells])
    order = rate.argsort(kind="stable")
    cells, rate = cells[order], rate[order]
    rises = rate[1:] > (1.0 + TIED) * rate[:-1]
    if not rises.all():
        first = np.append(True, rises)
        rate = rate[first][first.cumsum() - 1]
    moved, flipped = abs(row[cells]), np.zeros(rate.size + 1)
    moved[: rate.searchsorted(0.0, side="right")] /= 2.0  # from 1/2
    moved.cumsum(out=flipped[1:])
    # keep the flips down to MD = 0, whole ties included
    stop = min(int(flipped.searchsorted(abs(md) - tiny)), rate.size)
    stop = int(rate.searchsorted(rate[stop - 1], side="right")) if stop else 0
    cells, gap = cells[:stop], abs(md) - flipped[: stop + 1]
    gap[abs(gap) <= tiny] = 0.0
    gap[-1] = min(gap[-1], 0.0)
    step = (sign * slope[cells] < 0) - start[cells]
    return KnapsackPath(start, cells, step, rate[:stop], gap, sign)


@dataclass(frozen=True)
class ClientPath:
    """A path at its tie ends: MD and accuracy in a pooled problem, and its own |MD|, decreasing."""

    md: Array
    accuracy: Array
    local: Array

    @cached_property
    def jump(self) -> Any:
        """(V - 1,) edges on which no budget stops, as a double: cells that the client never or next
        to never saw flip at once.

        Where the local |MD| stands still, the client stands at their beginning at eps = local, just
        below it at their end.
        """
        moved = np.maximum(np.abs(np.diff(self.md)), np.abs(np.diff(self.accuracy)))
        return -np.diff(self.local) <= STEEP * moved

    @property
    def edges(self) -> tuple[Array, Array, Array]:
        """(S, 2) budgets, MD and accuracy at both ends of the edges, and of vertices between jumps.

        Just below a budget is the next double; on a steep edge that is a part of the edge further.
        """
        first = np.flatnonzero(~self.jump)
        alone = np.setdiff1d(np.arange(self.md.size), [first, first + 1])
        ends = np.stack([np.append(first, alone), np.append(first + 1, alone)], axis=1)
        beyond = np.diff(self.local, prepend=np.inf) == 0
        eps = np.where(beyond, np.nextafter(self.local, 0.0), self.local)
        md, accuracy = self.at(eps)
        return eps[ends], md[ends], accuracy[ends]

    def at(self, eps: Array) -> Array:
        """(2, P) MD and accuracy at budgets (P,)."""
        ends = self.md[::-1], self.accuracy[::-1]
        return np.stack([np.interp(eps, self.local[::-1], v) for v in ends])


def client_path(path: KnapsackPath, whole: Problem) -> ClientPath:
    """A client's ``path`` in the pooled problem; where no constraint binds, one rule."""
    first = whole.values(path.start)[0], whole.base + float(whole.u @ path.start)
    steps = (path.step * row[path.cells] for row in (whole.v[0], whole.u))
    ends = np.append(0, np.flatnonzero(np.diff(path.exchange_rate, append=np.inf) > 0) + 1)
    md, accuracy = (
        (at + np.append(0.0, np.cumsum(row)))[ends] for at, row in zip(first, steps, strict=True)
    )
    local = path.gap[ends]
    if local[-1] < 0:  # the last tie is taken in part, down to a local MD of zero
        for v in (md, accuracy):
            v[-1] = np.interp(0.0, local[:-3:-1], v[:-3:-1])
    local = np.maximum(local, 0.0)
    # of several jumps in a row one is left: no budget stops between them
    keep = (np.diff(local, prepend=np.inf) != 0) | (np.diff(local, append=-np.inf) != 0)
    return ClientPath(md[keep], accuracy[keep], local[keep])
