"""The upper envelope of attained line segments in (disparity, accuracy), exactly.

Accuracy is linear in the disparity along a segment. At disparity d a segment offers its best point
up to d: where the accuracy falls its left end, where it rises the place d itself or the right end.
The frontier is the best of all offers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array

EQUAL = 1e-14
"""Accuracies and disparities this close are the same."""
BLOCK = 2_000_000
"""Disparities times segments in one batch: bounds the memory."""


@dataclass(frozen=True)
class Segments:
    """Segments by increasing disparity: ``disparity`` (S, 2) and ``accuracy`` (S, 2) of their ends.

    ``other`` (S, 2, M) is linear along them too, ``owner`` (S,) says what a segment belongs to.
    """

    disparity: Array
    accuracy: Array
    other: Array
    owner: Array

    @classmethod
    def folded(cls, md: Array, accuracy: Array, other: Array, owner: Array) -> Segments:
        """From segments of signed ``md`` (S, 2): those that cross 0 are split there, and |md|
        increases.
        """
        across = np.flatnonzero(md.min(axis=1, initial=0.0) * md.max(axis=1, initial=0.0) < 0)
        place = md[across, 0] / (md[across, 0] - md[across, 1])
        middle = _between(accuracy[across], place), _between(other[across], place)
        ends = np.repeat(np.concatenate([np.arange(len(md)), across])[:, None], 2, axis=1)
        md, accuracy, other = md[ends[:, 0]], accuracy[ends[:, 0]], other[ends[:, 0]]
        for rows, end in ((across, 1), (np.arange(len(md) - len(across), len(md)), 0)):
            md[rows, end], accuracy[rows, end], other[rows, end] = 0.0, *middle
        turned = np.abs(md[:, 0]) > np.abs(md[:, 1])
        md[turned], accuracy[turned], other[turned] = (
            md[turned, ::-1],
            accuracy[turned, ::-1],
            other[turned, ::-1],
        )
        return cls(np.abs(md), accuracy, other, owner[ends[:, 0]])

    def undominated(self) -> Segments:
        """Without the segments that are nowhere better than an end of others at most as
        disparate.
        """
        order = np.argsort(self.disparity, axis=None, kind="stable")
        best = np.maximum.accumulate(self.accuracy.ravel()[order])
        reached = best[
            np.searchsorted(self.disparity.ravel()[order], self.disparity[:, 0], side="right") - 1
        ]
        kept = self.accuracy.max(axis=1) >= reached
        return Segments(
            self.disparity[kept], self.accuracy[kept], self.other[kept], self.owner[kept]
        )

    @property
    def smallest(self) -> float:
        """The smallest disparity."""
        return float(self.disparity[:, 0].min())

    @property
    def largest(self) -> float:
        """The disparity of the most accurate point, of several the least disparate."""
        best = self.accuracy >= self.accuracy.max() - EQUAL
        return float(self.disparity[best].min())

    def best(self, disparity: Array) -> tuple[Array, Array, Array]:
        """The most accurate points with at most ``disparity`` (P,): accuracy, segments and places
        in [0, 1], all (P,).

        Accuracy -inf where no segment reaches so low.
        """
        accuracy, segment = np.empty(len(disparity)), np.empty(len(disparity), np.intp)
        place = np.empty(len(disparity))
        step = max(1, BLOCK // max(len(self.owner), 1))
        for start in range(0, len(disparity), step):
            rows = slice(start, start + step)
            accuracy[rows], segment[rows], place[rows] = self._best(disparity[rows])
        return accuracy, segment, place

    def _best(self, disparity: Array) -> tuple[Array, Array, Array]:
        left, right = self.disparity.T
        width = right - left
        rises = self.accuracy[:, 1] > self.accuracy[:, 0]
        reach = np.divide(
            disparity[:, None] - left,
            width,
            out=np.ones((len(disparity), len(left))),
            where=width > 0,
        )
        place = np.where(rises, np.clip(reach, 0.0, 1.0), 0.0)
        offer = self.accuracy[:, 0] + place * (self.accuracy[:, 1] - self.accuracy[:, 0])
        offer = np.where(left <= disparity[:, None] + EQUAL, offer, -np.inf)
        segment = offer.argmax(axis=1)
        rows = np.arange(len(disparity))
        return offer[rows, segment], segment, place[rows, segment]

    def at(self, segment: Array, place: Array) -> tuple[Array, Array, Array]:
        """Disparity (P,), accuracy (P,) and ``other`` (P, M) at places of segments."""
        return (
            _between(self.disparity[segment], place),
            _between(self.accuracy[segment], place),
            _between(self.other[segment], place),
        )


def _between(ends: Array, place: Array) -> Array:
    """(P, ...) at ``place`` (P,) between ends (P, 2, ...); the ends themselves are exact."""
    t = place.reshape(-1, *[1] * (ends.ndim - 2))
    return (1.0 - t) * ends[:, 0] + t * ends[:, 1]
