"""Counts altered before they leave a site: two-sided geometric noise, and rounding."""

from fractions import Fraction
from secrets import SystemRandom

import numpy as np

from fairfl._support.checks import Array

RANDOM = SystemRandom()


def exact_noise(epsilon: Fraction) -> int:
    """A whole number k with a probability in proportion to exp(-``epsilon`` |k|), exactly: from
    random whole numbers, without floating point (Canonne, Kamath and Steinke, 2020, algorithm 2).
    """
    rate, scale = epsilon.as_integer_ratio()
    while True:
        offset, whole_scales = RANDOM.randrange(scale), 0
        if not _coin(Fraction(offset, scale)):
            continue
        while _coin(Fraction(1)):
            whole_scales += 1
        size, sign = (offset + scale * whole_scales) // rate, RANDOM.randrange(2)
        if size or sign:  # 0 has one sign
            return size if sign else -size


def _coin(gamma: Fraction) -> bool:
    """True with probability exp(-``gamma``), gamma in [0, 1] (their algorithm 1)."""
    k = 1
    while RANDOM.randrange(k * gamma.denominator) < gamma.numerator:
        k += 1
    return k % 2 == 1


def nonnegative(counts: Array) -> Array:
    """The nearest whole counts of 0 or more with the same sum, which is at least 0: the projection
    on the simplex. Each count is lowered by one number and cut at 0, and some are raised by one.
    """
    total, low, high = counts.sum(), 0, int(counts.max())
    while low < high:  # bisection for the smallest number that brings the sum down to the total
        middle = (low + high) // 2
        enough = np.maximum(counts - middle, 0).sum() <= total
        low, high = (low, middle) if enough else (middle + 1, high)
    nearest = np.maximum(counts - low, 0)
    raised = np.flatnonzero(counts >= low)[: total - nearest.sum()] if low else []
    nearest.flat[raised] += 1
    return nearest


def rounded(counts: Array, base: float) -> Array:
    """The nearest multiples of ``base``; of two as near the larger one."""
    return (counts + base // 2) // base * base
