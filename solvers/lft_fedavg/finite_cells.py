"""What LFT+FedAvg's programme (``finite_programme``) knows of its cells before it is solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.tolerances import MIXED_MET


@dataclass(frozen=True)
class Relaxed:
    """CFL with at most one disparity, with any where it is None: no rule has more than ``bound``,
    and ``reduced`` (N,) is what a cell loses by leaving CFL's rule; a level loses nothing.
    """

    disparity: float | None
    bound: float
    reduced: Array

    def box(self, gap: float) -> tuple[Array, Array]:
        """The smallest and largest f (N,) of rules that are worth ``bound - gap`` or more."""
        size = np.abs(self.reduced)
        room = np.divide(gap, size, out=np.full(size.size, np.inf), where=size > 0) + MIXED_MET
        accepted = self.reduced > 0
        return np.where(accepted, np.maximum(0.0, 1.0 - room), 0.0), np.where(
            accepted, 1.0, np.minimum(1.0, room)
        )


@dataclass(frozen=True)
class ScoreRange:
    """Multipliers' largest positive and negative parts (2 K,), and scores (N,) they allow."""

    parts: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class OpenCells:
    """The ``lowest`` and ``highest`` of the rule (N,), the range of ``scores``, which cells
    ``is_open`` (N,) to more than one of acceptance, a tie and refusal, and whose scores are
    ``certain`` to be positive or zero.
    """

    lowest: Array
    highest: Array
    scores: ScoreRange
    is_open: Array
    certain: Array

    @property
    def is_positive(self) -> Array:
        """(N,) open cells that are not refused."""
        return self.is_open & (self.lowest > 0)

    @property
    def is_negative(self) -> Array:
        """(N,) open cells that are not accepted."""
        return self.is_open & (self.highest < 1) & (self.lowest <= 0)

    @property
    def may_be_positive(self) -> Array:
        """Cells whose score has a switch that lets it be positive."""
        return np.flatnonzero(self.is_open & ~self.is_negative & (self.lowest < 1))

    @property
    def may_be_negative(self) -> Array:
        """Cells whose score has a switch that lets it be negative."""
        return np.flatnonzero(self.is_open & ~self.is_positive & (self.highest > 0))

    @property
    def uncertain(self) -> Array:
        """Cells whose score may be positive or not."""
        return np.flatnonzero(self.is_open & ~self.is_negative & ~self.certain)
