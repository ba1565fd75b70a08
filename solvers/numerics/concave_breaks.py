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
