"""One client's classifiers on a finite X for all its budgets, and their terms in the pooled MD and
accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.fractional_knapsack import KnapsackPath
from fairfl.solvers.problem import Problem

STEEP = 1e-6
"""Where the local |MD| changes by less than this share of the pooled MD or accuracy, one rounding
of a budget moves these by more than 1e-10, what a disparity may be missed by (``frontier.MET``).
"""


@dataclass(frozen=True)
class ClientPath:
    """One client's path at its tie ends: pooled MD and accuracy terms, and the local |MD|, which
    falls to 0.
    """

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

        Just below a budget is the next double. On a steep edge it may be a part of the edge further.
        """
        first = np.flatnonzero(~self.jump)
        alone = np.setdiff1d(np.arange(self.md.size), [first, first + 1])
        ends = np.stack([np.append(first, alone), np.append(first + 1, alone)], axis=1)
        beyond = np.append(False, np.diff(self.local) == 0)
        eps = np.where(beyond, np.nextafter(self.local, 0.0), self.local)
        md, accuracy = (np.interp(eps, self.local[::-1], v[::-1]) for v in (self.md, self.accuracy))
        return eps[ends], md[ends], accuracy[ends]


def client_path(path: KnapsackPath, whole: Problem) -> ClientPath:
    """The client's ``path`` in the pooled problem ``whole``; of one that no constraint binds, its
    only rule.
    """
    md0 = float(whole.values(path.start)[0])
    accuracy0 = whole.base + float(whole.u @ path.start)
    if path.cells.size == 0:
        return ClientPath(np.array([md0]), np.array([accuracy0]), np.maximum(path.gap[:1], 0.0))
    md = md0 + np.append(0.0, np.cumsum(path.step * whole.v[0, path.cells]))
    accuracy = accuracy0 + np.append(0.0, np.cumsum(path.step * whole.u[path.cells]))
    ends = np.append(0, np.flatnonzero(np.append(np.diff(path.exchange_rate) > 0, True)) + 1)
    md, accuracy, local = md[ends], accuracy[ends], path.gap[ends]
    # the last tie is taken in part, down to a local MD of zero
    if local.size > 1 and local[-1] < 0:
        share = local[-2] / (local[-2] - local[-1])
        md[-1] = md[-2] + share * (md[-1] - md[-2])
        accuracy[-1] = accuracy[-2] + share * (accuracy[-1] - accuracy[-2])
        local[-1] = 0.0
    local = np.maximum(local, 0.0)
    # of several jumps in a row one is left: no budget stops between them
    keep = np.append(
        True,
        np.append((np.diff(local[:-1]) != 0) | (np.diff(local[1:]) != 0), True)[: local.size - 1],
    )
    return ClientPath(md[keep], accuracy[keep], local[keep])
