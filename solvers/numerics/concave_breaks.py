"""Where a concave piecewise linear function on [0, 1] bends (Eisner and Severance, 1976): tangents
at two places meet at a third, which is asked next, until both lie on one line.
"""

from collections.abc import Callable
from functools import cache
from heapq import heappop, heappush

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.tolerances import LINEAR


def concave_breaks(tangent: Callable[[float], tuple[float, float]], limit: float = np.inf) -> Array:
    """Increasing places in [0, 1], between which the function is linear, from values and slopes; or
    taken to be linear, once ``limit`` tangents are known: those furthest from it come first.
    """
    at, breaks, intervals = cache(tangent), [1.0], [(0.0, 0.0, 1.0)]
    while intervals:
        _, low, high = heappop(intervals)
        (value, slope), (top, end), width = at(low), at(high), high - low
        meet = low + (top - value - end * width) / (slope - end) if slope > end else low
        missed = min(abs(top - value - tangent_slope * width) for tangent_slope in (slope, end))
        if missed > LINEAR and low < meet < high and at.cache_info().currsize < limit:
            for part in ((low, meet), (meet, high)):
                heappush(intervals, (-missed, *part))
        else:
            breaks.append(low)
    return np.sort(breaks)
