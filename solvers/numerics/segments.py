"""Piecewise linear curves: the upper envelope of attained line segments in (disparity, accuracy),
and where a concave function bends.

Accuracy is linear in the disparity along a segment. At disparity d a segment offers its best point
up to d: where the accuracy falls its left end, where it rises the place d itself or the right end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.tolerances import EQUAL, LINEAR

BLOCK = 2_000_000  # disparities times segments in one batch: bounds the memory


@dataclass(frozen=True)
class Segments:
    """Segments by increasing disparity: ``ends`` (S, 2, 2 + M) have the disparity, the accuracy and
    M more numbers that are linear along a segment; ``owner`` (S,) says what it belongs to.
    """

    ends: Array
    owner: Array

    @classmethod
    def folded(cls, md: Array, accuracy: Array, carried: Array, owner: Array) -> Segments:
        """From segments of signed ``md``, ``accuracy`` (S, 2), ``carried`` (S, 2, M), cut at 0."""
        ends = np.concatenate([md[..., None], accuracy[..., None], carried], axis=2)
        across = np.flatnonzero(md.min(axis=1, initial=0.0) * md.max(axis=1, initial=0.0) < 0)
        middle = _between(ends[across], md[across, 0] / (md[across, 0] - md[across, 1]))
        middle[:, 0] = 0.0
        ends = np.concatenate([ends, np.stack([middle, ends[across, 1]], axis=1)])
        ends[across, 1] = middle
        ends[..., 0] = np.abs(ends[..., 0])
        turned = ends[:, 0, 0] > ends[:, 1, 0]
        ends[turned] = ends[turned, ::-1]
        return cls(ends, np.append(owner, owner[across]))

    def undominated(self) -> Segments:
        """Without segments that are nowhere better than an end of others as disparate."""
        disparity, accuracy = self.ends[..., 0], self.ends[..., 1]
        order = np.argsort(disparity, axis=None, kind="stable")
        best = np.maximum.accumulate(accuracy.ravel()[order])
        place = np.searchsorted(disparity.ravel()[order], disparity[:, 0], side="right")
        is_best = accuracy.max(axis=1) >= best[place - 1]
        return Segments(self.ends[is_best], self.owner[is_best])

    @property
    def smallest(self) -> float:
        """The smallest disparity."""
        return float(self.ends[:, 0, 0].min())

    @property
    def largest(self) -> float:
        """The disparity of the most accurate point, of several the least disparate."""
        disparity, accuracy = self.ends[..., 0], self.ends[..., 1]
        return float(disparity[accuracy >= accuracy.max() - EQUAL].min())

    def best(self, disparity: Array) -> tuple[Array, Array]:
        """Segments and places in [0, 1] of the best points with at most ``disparity`` (P,)."""
        step = max(1, BLOCK // max(len(self.owner), 1))
        blocks = np.split(disparity, range(step, len(disparity), step))
        segment, place = zip(*map(self._best, blocks), strict=True)
        return np.concatenate(segment), np.concatenate(place)

    def _best(self, disparity: Array) -> tuple[Array, Array]:
        place, offer = self.offers(disparity)
        segment = offer.argmax(axis=1)
        return segment, place[np.arange(len(disparity)), segment]

    def offers(self, disparity: Array) -> tuple[Array, Array]:
        """(P, S) the place in [0, 1] of each segment's most accurate point with at most
        ``disparity`` (P,), and its accuracy, minus infinity where there is none.
        """
        (left, first), (right, last) = self.ends[..., 0:2].transpose(1, 2, 0)
        width = right - left
        far = np.ones((len(disparity), len(left)))
        np.divide(disparity[:, None] - left, width, out=far, where=width > 0)
        place = np.where(last > first, np.clip(far, 0.0, 1.0), 0.0)
        offer = first + place * (last - first)
        return place, np.where(left <= disparity[:, None] + EQUAL, offer, -np.inf)

    def at(self, segment: Array, place: Array) -> tuple[Array, Array, Array]:
        """Disparity (P,), accuracy (P,) and the M other numbers (P, M) at places of segments."""
        points = _between(self.ends[segment], place)
        return points[:, 0], points[:, 1], points[:, 2:]


def _between(ends: Array, place: Array) -> Array:
    """(P, n) at ``place`` (P,) between ends (P, 2, n); the ends themselves are exact."""
    return (1.0 - place)[:, None] * ends[:, 0] + place[:, None] * ends[:, 1]


def concave_breaks(tangent: Callable[[float], tuple[float, float]], limit: float = np.inf) -> Array:
    """Places in [0, 1] between which a concave function is linear, from values and slopes, or taken
    to be once ``limit`` tangents are known. Two tangents meet at a third place, which is asked next
    (Eisner and Severance, 1976).
    """
    tangent, breaks, intervals = cache(tangent), [1.0], [(0.0, 0.0, 1.0)]
    while intervals:
        _, low, high = heappop(intervals)
        (value, slope), (high_value, high_slope) = tangent(low), tangent(high)
        fall = slope - high_slope
        misses = [high_value - value - s * (high - low) for s in (slope, high_slope)]
        meet, missed = low + misses[1] / fall if fall > 0 else low, min(map(abs, misses))
        if missed > LINEAR and low < meet < high and tangent.cache_info().currsize < limit:
            for part in ((low, meet), (meet, high)):
                heappush(intervals, (-missed, *part))
        else:
            breaks.append(low)
    return np.sort(breaks)
