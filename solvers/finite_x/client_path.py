"""A client's own solutions on a finite X for all its budgets, in the pooled problem, where they are
piecewise linear: of one constraint.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.fractional_knapsack import KnapsackPath
from fairfl.solvers.problem import Problem

STEEP = 1e-6
"""Where the local |MD| changes by less than this share of the pooled MD or accuracy, one rounding
of a budget moves these by more than 1e-10, what a disparity may be missed by (``tolerances.MET``).
"""


@dataclass(frozen=True)
class ClientPath:
    """A path at its tie ends: MD and accuracy in a pooled problem, and its own |MD|, decreasing."""

    md: Array
    accuracy: Array
    local: Array

    @cached_property
    def jump(self) -> Array:
        """(V - 1,) edges on which no budget stops, as a double: cells that the client never or next
        to never saw flip at once. It stands at their beginning at eps = local, just below at their
        end.
        """
        moved = np.maximum(np.abs(np.diff(self.md)), np.abs(np.diff(self.accuracy)))
        return -np.diff(self.local) <= STEEP * moved

    @property
    def edges(self) -> tuple[Array, Array, Array]:
        """(S, 2) budgets, MD and accuracy at both ends of edges, and of vertices between jumps,
        which are at the next double below a budget.
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
    pairs = zip(first, steps, strict=True)
    md, accuracy = ((at + np.append(0.0, np.cumsum(row)))[ends] for at, row in pairs)
    local = path.gap[ends]
    if local[-1] < 0:  # the last tie is taken in part, down to a local MD of zero
        for v in (md, accuracy):
            v[-1] = np.interp(0.0, local[:-3:-1], v[:-3:-1])
    local = np.maximum(local, 0.0)
    # of several jumps in a row one is left: no budget stops between them
    keep = (np.diff(local, prepend=np.inf) != 0) | (np.diff(local, append=-np.inf) != 0)
    return ClientPath(md[keep], accuracy[keep], local[keep])
